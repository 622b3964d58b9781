"""Whether a product can be had: only from what a page says in so many words, never from what it leaves out."""

import re
from enum import StrEnum
from functools import lru_cache


class Availability(StrEnum):
    """Whether a product can be had now."""

    IN_STOCK = "IN_STOCK"
    OUT_OF_STOCK = "OUT_OF_STOCK"
    BACKORDER = "BACKORDER"
    UNKNOWN = "UNKNOWN"


_VOCABULARY = {
    Availability.BACKORDER: "backorder preorder presale madetoorder onbackorder availableonbackorder availablefororder",
    Availability.OUT_OF_STOCK: "outofstock oos soldout discontinued unavailable notavailable nostock reserved false 0",
    Availability.IN_STOCK: (
        "instock instoreonly onlineonly limitedavailability available instoreandonline lowstock limitedstock "
        "availableforsale true 1"
    ),
}
_MEANS = {word: state for state, words in _VOCABULARY.items() for word in words.split()}
_SEPARATORS = re.compile(r"[\s_\-]+")


def _one_of(table: str) -> re.Pattern[str]:
    """One pattern for a table, each line of which holds alternatives."""
    return re.compile("|".join(line.strip() for line in table.splitlines() if line.strip()), re.IGNORECASE)


_GONE = _one_of(r"""
    (?:temporarily |currently |momentarily )?(?:out[ -]?of[ -]?stock|unavailable\b)|sold[ -]?out|\bunavailable\b
    \bnot (?:currently |yet )?(?:available|in stock)|no longer available|\bdiscontinued\b|\bno stock\b
    notify me (?:when|if)|email me when|back in stock (?:alert|notif)|\b0 in stock\b|stock:? 0\b|uitverkocht
    niet (?:op|meer op|in) voorraad|niet (?:meer )?(?:leverbaar|beschikbaar)|tijdelijk (?:niet|uitverkocht)
    ausverkauft|nicht (?:mehr )?(?:verfügbar|lieferbar|vorrätig|auf lager)|vergriffen|rupture de stock|\bépuisé
    \bindisponible\b|\besaurito\b|non disponibile|\bagotad[oa]\b|(?:sin|fuera de) (?:stock|existencias|inventario)
    no disponible|\besgotado\b|indispon[ií]vel|sem (?:estoque|stock)|niedostępn|brak (?:w magazynie|towaru|w sprzedaży)
    chwilowy brak|wyprzedan|vyprodáno
    není skladem|vypredané|nedostupn|slutsåld|slut i lager|tillfälligt slut|join (?:the |our )?wait(?:ing)?[ -]?list
    (?:ej|inte) i lager|esaurit[oa]|épuisée?|hors stock|derzeit nicht|ikke på lager|udsolgt|utsolgt|loppuunmyyty
    ei varastossa|elfogyott|nincs raktáron|stoc epuizat|indisponibil|нет в наличии|распродан|немає в наявності|tükendi
    stokta yok|在庫(?:なし|切れ)|売り切れ|完売|品切れ|(?:已|暂时|暫時)?(?:缺货|售罄|售完|無庫存|缺貨)
    (?:일시 ?)?품절|εξαντλ\w*|μη διαθέσιμο|en rupture
    bientôt (?:de retour|disponible)|plus disponible|próximamente|em breve|prossimamente|coming soon
    (?:currently )?not (?:for sale|sold)\b|retired product|(?:is |has been )?retired
    (?:is )?no longer (?:sold|made|in our range|in stock|for sale|stocked)
    can(?:not|'t) (?:currently )?be (?:ordered|bought|purchased)|nicht (?:mehr )?(?:bestellbar|erhältlich)
    nicht mehr im sortiment|niet (?:meer )?te (?:koop|bestel\w*)|uit het assortiment|ne peut (?:plus|pas) être command
    no se puede comprar|nie można (?:kupić|zamówić)|nelze (?:\w+ )?(?:koupit|objednat)
    nie je možné (?:\w+ )?(?:kúpiť|objednať)|ukončen\w* (?:predaj|prodej)|predaj ukončen|nincs (?:készleten|raktáron)
    nem (?:rendelhető|elérhető|kapható)|nu (?:este|e|mai este) (?:disponibil|în stoc)|изчерпан|няма наличност
    не е (?:в )?налич|(?:товар )?закончился|раскуплен|снят\w* с (?:продажи|производства)|нет (?:на складе|в продаже)
    недоступ|відсутн|закінчи(?:вся|лося)|знят\w* з (?:продажу|виробництва)
    (?:tilapäisesti |väliaikaisesti )?(?:loppu(?:nut)?\b|ei saatavilla)|ni (?:na zalogi|dobavljiv|na voljo)|razprodan
    nedobavljiv|rasprodan|nije (?:na (?:zalihi|stanju|lageru)|dostup)|nema (?:na (?:stanju|zalihi|lageru)|zalihe)
    išparduot|neturime|(?:šiuo metu )?nėra (?:sandėlyje|prekės)|prekės nėra|nav (?:pieejam|noliktav)|izpārdot
    läbi müüdud|(?:ei ole|pole) (?:laos|saadaval)|otsas\b|(?:geçici olarak )?(?:temin edilemiyor|mevcut değil)
    stok(?:ta)? (?:kalmadı|bitti)|入荷(?:待ち|未定)|販売終了|取扱終了|在庫がありません|판매 ?(?:종료|중지|중단)
    재고 ?없음|已下架|下架|停产|停產|补货中|補貨中
    نف[دذ]\w*(?: \w+)?|غير (?:متوفر|متاح|موجود)|אזל(?: מה?מלאי)?|לא במלאי|חסר במלאי|(?:tạm )?hết hàng|ngừng kinh doanh
    stok (?:habis|kosong)|barang habis|สินค้าหมด|หมดชั่วคราว|ناموجود|موجود نیست
""")
"""None is left, or it is not sold any more: what shops say of it in many languages."""
_LATER = _one_of(r"""
    (?:available on |on )?back[ -]?order|beschikbaar (?:via|op) na|(?:disponible )?sur commande|pre[ -]?order|nabestel
    vorbestell|précommande|preventa|pré-venda|forudbestil|förbeställ|forhåndsbestill|предзаказ|予約|预订|預購
    made to order
    available to order|special order|op bestelling|auf bestellung|na objednávku|na zamówienie|op nabestelling
    bestellingsvare|bestillingsvare|skaffevare|beställningsvara|(?:disponible en )?précommande|pré-?commande
    przedsprzedaż|předobjednávk|predobjednávk|előrendel|(?:bajo|por) (?:pedido|encargo)|su ordinazione
    prenot\w+ ora|in prenotazione|preordin|sob (?:encomenda|consulta de prazo)|ennakkotila|tilaustuote|под заказ
    під замовлення|по поръчка|po narudžbi|po naročilu|tellimisel|eeltellimus|pēc pasūtījuma|pagal užsakymą|išankstinis
    precomandă|la comandă|ön sipariş|예약 ?(?:판매|구매|주문)|طلب مسبق|προπαραγγελία|κατόπιν παραγγελίας
    đặt (?:hàng )?trước
""")
"""It can be ordered, and comes later."""
_THERE = _one_of(r"""
    \bin[ -]?stock\b|\b(?:only )?\d+ (?:left )?in stock\b|only \d+ left|available (?:only )?in[ -]stores?(?: only)?
    in[ -]store only|\bavailable\b(?! (?:in|from|soon))|ready to ship|ships (?:today|within|in \d|tomorrow|same day)
    low stock|limited stock|op voorraad|\b(?:direct )?leverbaar\b|voorradig|auf lager|sofort (?:lieferbar|verfügbar)
    \blieferbar\b|\bverfügbar\b|vorrätig|en stock|\bdisponible\b|\bdisponibile\b|disponibilità immediata
    \bdispon[ií]vel\b|em estoque|em stock|dostępn[yae]|w magazynie|skladem|\bskladom\b|i lager|på lager|varastossa
    raktáron|în stoc|в наличии|є в наявності|stokta|在庫あり|有货|有貨|現貨|现货|재고 있음|σε απόθεμα|άμεσα διαθέσιμο
    (?:άμεσα )?διαθέσιμο|на склад[еі]|в наличност|налично|(?:yra|turime) (?:sandėlyje|vietoje)|prekė sandėlyje
    (?:ir )?noliktavā|\bpieejam[sa]\b|(?:on )?laos(?: olemas)?\b|saadaval|na (?:zalogi|zalihi|stanju|lageru)
    \bdostup(?:no|né|ný|ná)\b|\bdobavljivo\b|készleten|(?:heti )?saatavilla|disponibil\b|متوفر|متاح|במלאי|còn hàng
    มีสินค้า|พร้อมส่ง|(?:stok )?tersedia|موجود|noch \d+ (?:stück )?(?:auf lager|verfügbar)
    nog \d+ (?:op voorraad|beschikbaar)|plus que \d+|zostało \d+|quedan \d+
    (?:more than |over )?\d+ (?:available|copies in stock)
""")
"""It can be had now."""
_PHRASES = (
    (Availability.OUT_OF_STOCK, _GONE),
    (Availability.BACKORDER, _LATER),
    (Availability.IN_STOCK, _THERE),
)
_LONGEST = 400
_LINE = re.compile(
    r"^(?:[^:：]{0,20}[:：])?\W*(?:\d[\d.,]*\s*(?:units?|items?|pcs|pieces|stuks|stück)?\s*)?"
    r"(?:(?:(?:this|the|that|dit|deze|dieses?|dieser|diese|der|die|das|cet(?:te)?|ce|est[ea]|quest[oa]) "
    r"(?:[\w-]+ ){1,3}?"
    r"(?:is|has been|has|are|ist|est|è|está|wurde|werd)|"
    r"produkt|produit|producto|prodotto|produto|artikel|article|artículo|"
    r"articolo|sorry|helaas|chwilowo|leider|désolé|(?:this (?:item|product) )?(?:is|has been|are)|"
    r"dit (?:artikel|product) is|"
    r"dieser artikel ist|cet article est|currently|temporarily|derzeit|"
    r"zurzeit|zur zeit|momentan|aktuell|momenteel|tijdelijk|op dit moment|actuellement|momentanément|temporairement|"
    r"actualmente|temporalmente|attualmente|temporaneamente|al momento|de momento|obecnie|chwilowo|momentálně|"
    r"för närvarande|tilfældigvis|midlertidigt|midlertidig|momentálne|dočasn[eě]|trenutno|jelenleg|átmenetileg|"
    r"tilapäisesti|προσωρινά|hetkel|ajutiselt|šobrīd|laikinai|šiuo metu|в момента|сейчас|временно|товара?|"
    r"тимчасово|наразі|"
    r"şu anda|geçici olarak|ürün|termék|produs|produsul|tuote|varen|toode|prece|prekė|izdelek|proizvod|item"
    r")\b[\s,]*){0,3}",
    re.IGNORECASE,
)
_NEARLY_ALL = 0.5
_PARTS = re.compile(r"[.,] |\s[-\u2013\u2014|]\s|[!;(]")
_NONE_LEFT = re.compile(
    r"(?:stock|in stock|voorraad|bestand|lagerbestand|inventory|(?:qty|quantity|number)(?: available| in stock)?|"
    r"disponibilité|disponibilidad|disponibilità|skladem|lagersaldo|lager|stok)\s*[:：]?\s*0(?:\s?[a-zà-ž]{1,6}\.?)?|"
    r"(?:sold|verkocht|verkauft|vendu|vendido|venduto|såld|solgt|myyty|sprzedane|prodáno)\W*",
    re.IGNORECASE,
)
"""A line that says that none is left: a count of nothing, or that it was sold."""
_SOME_LEFT = re.compile(
    r"(?:stock|in stock|voorraad|bestand|lagerbestand|inventory|(?:qty|quantity)(?: available| in stock)|disponibilité|"
    r"disponibilidad|disponibilità|skladem|lagersaldo|lager|stok)\s*[:：]\s*[1-9]\d{0,4}\+?(?:\s?[a-zà-ž]{1,6}\.?)?",
    re.IGNORECASE,
)
"""A line that counts how many there are."""


@lru_cache(maxsize=2_048)
def availability_in(text: str) -> Availability:
    """What a stock notice says: one of schema.org's words, a shop's own, or a phrase in one of many languages.

    'Not in stock' is heard before 'in stock', and either before nothing: silence is `UNKNOWN`.
    """
    line = text.strip()[:_LONGEST]
    if not line:
        return Availability.UNKNOWN
    word = _SEPARATORS.sub("", line.rpartition("/")[2] if "schema.org" in line else line).lower().rpartition(":")[2]
    if state := _MEANS.get(word):
        return state
    return next((state for state, pattern in _PHRASES if pattern.search(line)), Availability.UNKNOWN)


@lru_cache(maxsize=4_096)
def stock_line(text: str) -> Availability:
    """What a line says that is about the stock and little else: `Op voorraad`, `Stock: 12 in stock`.

    For lines that nothing names as a notice of stock: 'in stock soon in more colours' is none.
    """
    if _NONE_LEFT.fullmatch(text):
        return Availability.OUT_OF_STOCK
    if _SOME_LEFT.fullmatch(text):
        return Availability.IN_STOCK
    begins = _LINE.match(text)
    line = _PARTS.split(text[begins.end() :] if begins is not None else text, maxsplit=1)[0].rstrip(" .!")
    for state, pattern in _PHRASES:
        match = pattern.match(line)
        if match is not None:
            return state if len(match[0]) >= _NEARLY_ALL * len(line) else Availability.UNKNOWN
    return Availability.UNKNOWN
