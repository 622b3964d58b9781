"""What a page writes beside a label (`SKU: AB-12`, `Artikelnummer 1126`, `Brand: Acme`) or in `data-` attributes."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tidemill.reading.identifiers import as_gtin
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.shown.hints import Hint
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout, TextNode

_SKU = (
    r"SKU(?: #| code| no\.?)?|(?:\w+ )?item (?:no\.?|number|#|code|id)|item(?=\s*[:#])|"
    r"product (?:code|no\.?|number|id|#)|part (?:no\.?|number|#)|article (?:no\.?|number|#)|"
    r"stock (?:code|no\.?|number|#)|catalog(?:ue)? (?:no\.?|number|#)|web id|tcin|dpci|asin|"
    r"lot (?:no\.?|number|#)|kavelnummer|losnummer|"
    r"style(?: (?:no\.?|#|code|number))?(?=\s*[:#\d])|art(?:ikel)?\.?[ -]?(?:nr|nummer|no|code)\.?|"
    r"bestel(?:l)?[ -]?(?:nr|nummer)\.?|produkt(?:nummer|nr\.?|kod)|vare(?:nr|nummer)\.?|tuote(?:numero|koodi)|"
    r"r[ée]f(?:[ée]rence|erentie|erenz|erens)?\.?|referencia|referência|riferimento|"
    r"c[óo]d(?:igo|ice)?\.?(?: (?:do produto|prodotto|articolo|art\.?|produs))?|symbol|kod(?: produktu| towaru)?|"
    r"kód(?: produktu| zboží)?|cikkszám|артикул|код(?: товара| товару| продукта)?|ürün kodu|"
    r"šifra(?: artikla| izdelka| proizvoda)?|tootekood|preces kods|artikuls|prekės kodas|cod produs|"
    r"κωδικός(?: προϊόντος)?|id(?: produktu| produto| producto| prodotto| produit)|"
    r"kat(?:alog\w*)?\.? ?(?:č\.|číslo|nr\.?|broj|številka)|nr\.? kat(?:alogowy|\.)?|numer katalogowy|"
    r"каталожен номер|номер товара|termékkód|stok kodu|mã (?:sản phẩm|sp|hàng)|kode (?:produk|barang)|"
    r"رقم (?:المنتج|القطعة|الصنف)|رمز (?:المنتج|الصنف)|كود المنتج|מק[\"״]ט|کد (?:کالا|محصول)|รหัสสินค้า|商品番号|品番|"
    r"型番|商品コード|商品编号|商品編號|货号|貨號|상품 ?(?:코드|번호)|제품 ?(?:코드|번호)"
)
_GTIN = (
    r"EAN(?:[ -]?(?:13|code))?|GTIN(?:[ -]?\d+)?|UPC(?:[ -]?code)?|ISBN(?:[ -]?1[03])?|"
    r"barcode|streepjescode|JAN(?:コード)?"
)
_MPN = (
    r"MPN|kod producenta|référence (?:fabricant|constructeur)|(?:ref\.? |código )(?:del )?fabricante|"
    r"codice produttore|hersteller[- ]?(?:nr\.?|artikelnummer)|"
    r"(?:manufacturer|mfg|mfr)\.? (?:sku|number|no\.?|#|(?:item|part) (?:no\.?|number|#))|"
    r"model(?:l|e|o|lo)?(?: (?:no\.?|number|#|code|nr\.?))?(?=\s*[:#：]|$)|fabrikantcode|herstellernummer"
)
_BRAND = (
    r"brand(?: name)?|manufacturer|manufactured by|merk|marke|hersteller|marque|fabricant|marca|produttore|marka|"
    r"producent|značka|výrobce|"
    r"proizvajalec|proizvođač|výrobca|виробник|gamintojas|ražotājs|tootja|zīmols|prekės ženklas|fabricante|fabrikant|"
    r"üretici|μάρκα|κατασκευαστής|brend|bränd|марка|브랜드|제조사|品牌|nhãn hiệu|العلامة التجارية|"
    r"varumärke|mærke|merke|tuotemerkki|márka|бренд|производитель|ブランド|メーカー(?:名)?"
)
_LABELS = {
    name: re.compile(rf"(?:{words})(?:(?<![a-zà-ž])|(?![a-zà-ž]))\s*(?P<colon>[:：#.]*)\s*(?P<value>.*)", re.IGNORECASE)
    for name, words in (("gtin", _GTIN), ("mpn", _MPN), ("sku", _SKU), ("brand", _BRAND))
}
_SEPARATORS = re.compile(r"\s[|•·]\s")
_CODE = re.compile(r"(?=[^\d]*\d)[A-Za-z0-9][A-Za-z0-9._/-]{1,39}|[A-Z]+(?:[._/-][A-Z]+)+")
_LEADING = re.compile(rf"^(?:{_SKU})\s*[:：#]*\s+(?=\S+$)", re.IGNORECASE)
_TRAILING = re.compile(
    r"\s*[\[(|,-]?\s*\b(?:SKU|Art\.?-?Nr\.?|Item (?:#|No\.?)|Код|Kód|Šifra)\s*[:#]?\s*[\w./-]*\d[\w./-]*\W?$"
)
_ATTRIBUTES = {
    "sku": ("data-product-sku", "data-sku"),
    "gtin": ("data-product-ean", "data-ean", "data-gtin", "data-upc"),
    "brand": ("data-product-brand", "data-brand"),
}
_LONGEST_LINE, _LONGEST_BRAND = 80, 40


def labelled_fields(layout: PageLayout) -> dict[str, tuple[str, str]]:
    """The identifiers and the brand that stand beside their labels, each with where; the first of each counts."""
    found: dict[str, tuple[str, str]] = {}
    for index, text_node in enumerate(layout.texts):
        if len(text_node.text) > _LONGEST_LINE or text_node.hints & Hint.ASIDE:
            continue
        for name, value in _fields_at(layout.texts, index, text_node):
            found.setdefault(name, (value, f"label: {squash(text_node.text)[:40]}"))
    if "brand" not in found and (brand := _named_brand(layout) or _linked_brand(layout)) is not None:
        found["brand"] = brand
    for name, attributes in _ATTRIBUTES.items() if layout.data else ():
        if name not in found and (value_found := _attribute_value(layout, name, attributes)) is not None:
            found[name] = value_found
    return found


def _named_brand(layout: PageLayout) -> tuple[str, str] | None:
    """What an element by the heading says that is named for the brand, in one word or a few."""
    for notice in layout.brand_elements:
        if notice.hints & (Hint.ASIDE | Hint.HIDDEN) or abs(notice.order - layout.heading_order) > _BY_THE_HEADING:
            continue
        text = _BRAND_PREFIX.sub("", squash(notice.node.text(separator=" ")))
        if 1 < len(text) <= _LONGEST_BRAND and not _DIGITS_ONLY.fullmatch(text):
            return text, f"named: {notice.names[:40]}"
    return None


def _linked_brand(layout: PageLayout) -> tuple[str, str] | None:
    """What a link by the heading says that leads to the shop's page about a brand."""
    for text_node in layout.texts:
        if not text_node.href or abs(text_node.order - layout.heading_order) > _BY_THE_HEADING:
            continue
        text = _BRAND_PREFIX.sub("", squash(text_node.text))
        if text_node.hints & (Hint.ASIDE | Hint.HIDDEN) or not leads_to_brand(text_node.href):
            continue
        if 1 < len(text) <= _LONGEST_BRAND and len(text.split()) <= _BRAND_WORDS and not _DIGITS_ONLY.fullmatch(text):
            return text, f"link: {text_node.href[:60]}"
    return None


def leads_to_brand(href: str) -> bool:
    """Whether a link leads to a shop's page about a brand."""
    return _BRAND_PATH.search(href) is not None


_BRAND_WORDS = 4
_BRAND_PATH = re.compile(
    r"[/=](?:brands?|manufacturers?|merk(?:en)?|marken?|hersteller|marques?|marcas?|marche|producent[iy]?|"
    r"vendors?|znack[ay]|vyrobc[ei]|proizvajal\w+|varumarken?|maerker|merker|designers?|product/manufacturer/info)(?:[/=?&-]|"
    r"$)",
    re.IGNORECASE,
)
_BY_THE_HEADING = 15
_BRAND_PREFIX = re.compile(
    rf"^(?:(?:{_BRAND})\s*[:：]\s*|(?:vendor|manufacturer|brand|marque|marke|merk|marca)\s+|"
    r"(?:by|von|door|par|di|av|af|shop all|alles van|more from)\s+|"
    r"visit the (?=.* store$))|(?<=\w) store$",
    re.IGNORECASE,
)
_DIGITS_ONLY = re.compile(r"[\W\d_]+")


def _fields_at(texts: Sequence[TextNode], index: int, text_node: TextNode) -> Iterator[tuple[str, str]]:
    for part in _SEPARATORS.split(text_node.text):
        label = _label_in(part)
        if label is None:
            continue
        name, inline = label
        after = texts[index + 1].text if index + 1 < len(texts) else ""
        if value := _valid_value(name, inline or squash(after).lstrip(":： ")):
            yield name, value


@lru_cache(maxsize=8_192)
def _label_in(text: str) -> tuple[str, str] | None:
    """Which label a line begins with, and what stands behind it; a shop's menus are asked about on every page.

    A brand is written behind a colon: `Brand new in box` names none.
    """
    line = squash(text)
    for name, label in _LABELS.items():
        match = label.fullmatch(line)
        if match is not None:
            return None if name == "brand" and match["value"] and not match["colon"] else (name, match["value"])
    return None


def _valid_value(name: str, value: str) -> str:
    """The value, if it is of the kind that its label promises; '' if not."""
    if name == "gtin":
        return as_gtin(value) or ""
    if name == "brand":
        return value if 1 < len(value) <= _LONGEST_BRAND and not value.endswith((":", "：")) else ""
    first = value.split(" ", 1)[0].rstrip(",;|") if value else ""
    return first if _CODE.fullmatch(first) else ""


def _attribute_value(layout: PageLayout, name: str, attributes: Sequence[str]) -> tuple[str, str] | None:
    """What one kind of attribute says, if the page says it once: lists of products repeat theirs."""
    for attribute in (attribute for attribute in attributes if attribute in layout.data):
        values = {squash(value) for value in layout.data[attribute][:20]} - {""}
        if len(values) == 1:
            value = values.pop()
            value_found = (as_gtin(value) or "") if name == "gtin" else value[:_LONGEST_BRAND]
            return (value_found, f"[{attribute}]") if value_found else None
    return None


def without_label(code: str) -> str:
    """A code without the label that stands in one string with it: `SKU 00012` is 00012."""
    return _LEADING.sub("", code)


def without_code(title: str) -> str:
    """A title without the article's number that a heading may carry behind it."""
    return _TRAILING.sub("", title) or title
