"""What the names of classes and ids, and the words beside a price, say about the price."""

import re
from functools import lru_cache
from typing import Final

Hints = int
"""Any number of hints together: plain bits, because a page has thousands of elements and an enum's cost adds up."""


class Hint:
    """What class names, tags and words around a price say about it, as bit flags."""

    NONE: Final = 0
    PRICE: Final = 1
    CURRENT: Final = 2
    OLD: Final = 4
    ASIDE: Final = 8
    OTHER_AMOUNT: Final = 16
    UNIT: Final = 32
    HIDDEN: Final = 64
    TIER: Final = 128
    STOCK: Final = 256
    FRACTION: Final = 512
    MAIN: Final = 1024
    UNTAXED: Final = 2048
    VARIANT: Final = 4096
    REGULAR: Final = 8192
    BRAND: Final = 16384
    PROSE: Final = 32768
    LOWEST: Final = 65536
    NAMED: Final = 131072


INHERITED = Hint.ASIDE | Hint.HIDDEN | Hint.TIER
"""Hints that hold for everything inside an element; the others only for a few levels."""
NOT_THE_PRICE = Hint.ASIDE | Hint.OTHER_AMOUNT | Hint.UNIT
"""Hints of amounts that are not the product's price."""


def _any_of(words: str, *, whole_words: bool = False) -> re.Pattern[str]:
    """A pattern for any of the words, which blanks part; a blank within one is written as an underscore."""
    either = "|".join(words.split()).replace("_", " ")
    return re.compile(rf"\b(?:{either})\b" if whole_words else either, re.IGNORECASE)


_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SPLIT = re.compile(r"[^a-z0-9]+")

_NAMES = {
    Hint.PRICE: r"""
        prices? pricing prijs prijzen preis preise prix precio preco prezzo prezzi cena ceny pris hinta amount
        money prc
    """,
    Hint.CURRENT: r"""
        current sale special final now our actual selling ins reduced discounted deal promo new nu aktuell
        sales offer ahora agora jetzt nuovo nuevo nouveau yeni nowa nova novo neuer_preis price_(?:big|main)
    """,
    Hint.OLD: r"""
        secondary
        old was prev vecchio vecchia viejo vieja vieux ancien eski regi sena vana stary starsza alter_preis
        list_?price price_?list(?!_(?:unstyled|inline|group|none|reset)) listprice rrp msrp srp uvp strike\w*
        crossed cross_?out before
        previous original origin compared? prior former advies\w* statt ordinary omnibus lowest_30\w*
        oldprice wasprice price_?standard standard_?price price_?recommended recommended_(?:retail_)?price
        antes avant vorher foer gammel stara deleted
        line_through anterior precedente orig prc_org barrato barre tachado riscado durchgestrichen
    """,
    Hint.ASIDE: r"""
        product_?(?:items?|cards?|tiles?|thumbs?)(?!_(?:price|product|detail|info|main|name|title|content|form))
        related (?<!price_)recommend\w*(?!_(?:retail_)?price) up_?sells? cross_?sells? carousel swiper slick owl
        similar recently
        customers?_also also_(?:bought|viewed|like) you_may_also sponsored suggest\w* best_?sellers?
        trending last_?viewed recent_?viewed complete_the_look frequently\w* bought_together mini_?cart
        mini_?basket cart_?(?:items?|drawer|summary|total|content\w*) side_?cart
        (?:site|page|main|top)_header
        header_?(?:cart|top|bottom|wrapper|container|inner|links|nav|main|content) site_?footer footer nav
        navbar navigation mega_?menu main_?menu breadcrumbs? reviews? comments? testimonials? newsletter
        advert\w* wish_?list product_?list products?_?grid card_?product
        products teasers? blog faq cookie\w* top_?bar announcement\w*
        (?:site|top|promo|header|page|hero|info)_?(?:banner|bar|strip|ribbon)s? ^banner
        free_?shipping\w* usps?_?bar
        compare_?(?:list|table|bar) accessor\w* alternatives? more_?products other_?products also_?like
    """,
    Hint.OTHER_AMOUNT: r"""
        members?(?:hip)? medlem\w* mitglied\w* socios? club insider add_?ons?
        savings? save saved you_?save discount_?(?:amount|value|badge|label|percent\w*) percent\w* shipping
        delivery postage verzend\w* versand\w* instal\w* financ\w* klarna afterpay clearpay affirm sezzle
        laybuy paypal payments? monthly credit deposit loyalty points reward\w* insurance warranty donation
        coupon voucher adherents? abonnes? fidelit\w* threshold rating stars score trade_?in subscri\w*
        autoship tax_?amount vat_?amount
        fees?
    """,
    Hint.UNIT: r"""
        (?<!sellable_)unit_?price price_?unit per_?unit grundpreis base_?price per_?round cpr cost_?per_?round ppu
        price_?per(?!_(?:sellable|item|piece|pack|each|product))\w* pum per_?kg per_?lit\w+ eenheidsprijs
        unit_?pricing measure
    """,
    Hint.HIDDEN: r"""
        hidden hide d_none is_hidden invisible u_hidden
    """,
    Hint.TIER: r"""
        tier\w* bulk volume quantity_?discounts? staffel\w* price_?breaks? wholesale qty_?pric\w*
        quantity_?pric\w*
    """,
    Hint.STOCK: r"""
        stock availab\w* avail inventory in_?stock out_?of_?stock outofstock voorraad\w* lager\w*
        verf\w*barkeit lieferbarkeit disponib\w* dostepnosc dostupnost sold_?out delivery_?status levertijd
        estoque
    """,
    Hint.FRACTION: r"""
        cents? dec decimals? fraction\w* centimes? pence centavos centen
    """,
    Hint.MAIN: r"""
        product_?(?:main|detail\w*|info\w*|summary|view\w*|page|form|essential|single|content|price\w*|section)
        pdp summary buy_?box single_?product purchase\w*
    """,
    Hint.UNTAXED: r"""
        excl\w* ex_?vat ex_?tax without_?tax net_?price netto no_?tax tax_?excluded
    """,
    Hint.VARIANT: r"""
        swatch\w* variants? variations? options? attributes? combinations?
    """,
    Hint.REGULAR: r"""
        regular normal regularprice normalprice full_?price undiscounted
    """,
    Hint.LOWEST: r"""
        omnibus lowest_30\w* lowest_?price
    """,
    Hint.BRAND: r"""
        brands? brand_?(?:name|link|title) vendor manufacturers?(?:_name)? designer(?:_name)? product_?brand
        by_?line(?:_info)?
    """,
}
_NAME_HINTS = tuple((hint, _any_of(words, whole_words=True)) for hint, words in _NAMES.items())
_STRUCK = re.compile(r"line-through")
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
_STRUCK_TAGS = frozenset({"del", "s", "strike"})
_ASIDE_TAGS = frozenset({"nav", "footer"})


@lru_cache(maxsize=16_384)
def hints_of(names: str) -> Hints:
    """What a class attribute or an id says, whatever way its words are put together."""
    line = _SPLIT.sub(" ", _HUMPS.sub(" ", names).lower()).strip()
    found = Hint.NONE
    for hint, pattern in _NAME_HINTS:
        if pattern.search(line):
            found |= hint
    return found


def hints_of_tag(tag: str) -> Hints:
    """What the element itself says: struck out, or no part of what the page is about."""
    if tag in _STRUCK_TAGS:
        return Hint.OLD
    return Hint.ASIDE if tag in _ASIDE_TAGS else Hint.NONE


def hints_of_style(style: str) -> Hints:
    """What an inline style says."""
    found = Hint.OLD if _STRUCK.search(style) else Hint.NONE
    return found | Hint.HIDDEN if _UNSEEN.search(style) else found


_WORDS_BEFORE = {
    Hint.OLD: r"""
        \bwas\b \brrp\b \bmsrp\b \bsrp\b \bu\.?v\.?p\b list_price retail_price regular_price
        original(?:ly)?\b before\b \binstead_of \bstatt\b adviesprijs \bvan\b oude_prijs normale_prijs
        \bvoor\b: prix_(?:conseillé|barré|public) au_lieu_de \bantes\b \bde:
        prezzo_(?:consigliato|di_listino) \binvece_di cena_(?:regularna|poprzednia|katalogowa) poprzednia_cena \breg\b
        najniższa_cena původní
        běžná_cena \bord\b\.? ordinarie tidigare lägsta_pris førpris \bfør\b veil\.? normaalihinta eredeti
        korábbi oorspronkelijk ursprünglich bisherig alter_preis prezzo_precedente precio_anterior preço_anterior
        ancien_prix ^de:?\s*$ 希望小売価格 定価 通常価格 参考価格 原价 原價
        \bpvpr\b \bnorm\. giá_niêm_yết 建議售價
        \bстарая \bстара compare_at comp\._value strike mrp\b recommended lowest_price niedrigster
        laagste_prijs prix_le_plus_bas
    """,
    Hint.OTHER_AMOUNT: r"""
        (?<!non-)(?<!non_)\bmembers?\b medlem mitglied klubb? leden\w*prijs \bs[oó]cios?\b 会員
        club_(?:price|card) loyalty with_(?:your_|a_|\w+_)?card subscribe coupon voucher gutschein promo_?code
        cup[oó]n cupom \bkupon クーポン 쿠폰 code_promo kortingscode bank_offer \bstudent education(?:al)?_price
        adhérent abonné fidélité prix_(?:membre|carte|club) carte_(?:de_)?(?:fidélité|membre) kundenkarte klantenkaart
        met_(?:\w*kaart|pas) mit_(?:\w*karte|app) con_(?:tarjeta|carta|tessera) soci\b z_kartą klubow s_kartou věrnost
        klubová vernost törzsvásárló hűség kanta-asiak plussa jäsen 회원가 по_карте с_картой
        \bsave\b saving \bpoup[aeo] ahorr \btakarít tasarruf säästä экономи скидка знижка
        \bget_(?:an?_)?(?:extra_)?\W?$ other_sellers andere_(?:verkopers|anbieter) \b(?:new|used)_\(\d+\)
        elsewhere competitor market_price average_price core_charge \bspend\b \bworth\b sample protection_plan
        gift_?wrap \bservice\b muster_bestellen proefmonster échantillon cadeauverpakking geschenkverpackung
        replaced_by replacement:? superseded_by successor vervangen_door ersetzt_durch nachfolger remplacé_par
        sustituido_por sostituito_da zastąpion nahrazen
        \brent\b open.?box (?:\bused|refurbished|gebraucht|tweedehands|d'occasion)\b.{0,12}(?:from|vanaf|ab|dès|:)\W*$
        \bdiscount\b \boff\b besparing bespaar je_bespaart korting ersparnis sparen
        sie_sparen économi ahorra risparmi oszczęd ušetř \bspara\b spar\b you'll_earn earn\b \bpoints?\b
        shipping delivery postage verzend bezorg versand livraison envío spedizione frete dostaw doprav
        portes\b frakt \bfragt\b 送料 kargo доставк over_\W?\d orders?_(?:of|over|above)
        \bapprox(?:\.|imately)?\b ≈\W*$ \benviron\W*$
        \bdont\W*$ éco-?part écotaxe \beco-?(?:tax|fee|part) recycling recupel auvibel verwijderingsbijdrage
        start(?:ing)?_(?:bid|price) opening_bid startbod startpreis enchère_de_départ mise_à_prix

        \b\d+_?(?:kuud|mēn\w*|mėn\w*|months?|maanden|monaten?|mois|meses|mesi|rat|kk|mies\w*|měsíc\w*|mesiac\w*|luni|мес\w*)\b
        kuumakse minimum deposit statiegeld pfand instal payments?_of
        \bemi\b interest klarna afterpay clearpay paypal monthly per_month /_?mo\b maand monat mois finance
        gift_?card subtotal total\b (?<!to_)cart (?<!to_)basket winkelwagen
        warenkorb panier tax: vat: btw: donat warranty
        insurance trade.?in up_to tot_wel bis_zu jusqu parcela sem_juros \d+x_de \d+_?x\b
        sepette indirim taksit ポイント zzgl\.?\s*$ \bplus\s*$ 배송비 szállítás
    """,
    Hint.CURRENT: r"""
        current_bid huidig_bod aktuelles_gebot enchère_actuelle \bnow\b \bour_price today sale_price special_price
        \bprice\b \bprijs\b \bpreis\b \bprix\b precio
        preço prezzo \bcena\b \bpris\b \bnu\b \bnur\b jetzt \bvoor\b your_price deal aktuell hinta 販売価格 \bpor:
    """,
    Hint.UNTAXED: r"""
        (?:excl|exkl|ekskl|eks|uden|utan|ohne|zzgl)\w*\.?_(?:\d+_?%_)?(?:vat|tax|btw|gst|mwst|ust|moms|mva|iva)
        excl\w*\.?:?\s*$ ex\.?_?(?:vat|tax|btw|gst) hors_taxe \bht\b nett[oó]\b (?:sin|sem)_iva iva_esclusa
        bez_dph без_ндс brez_ddv bez_pdv bez_pvn be_pvm без_пдв fără_tva kdv_hariç km-ta áfa_nélkül
        (?:plus|\+)_?(?:vat|iva|tax|gst) 税抜 税別 本体価格
    """,
    Hint.TIER: r"""
        \b(?:[2-9]|\d{2,})_?(?:\+|or_more|of_meer|oder_mehr|stuks|pcs|pieces|ks|szt|dozen|boxes|packs|pakken)
        buy_\d+ \b[2-9]_(?:for|voor|für|pour|por|za)\W*$
    """,
    Hint.LOWEST: r"""
        lowest_price najniższa_cena niedrigster laagste_prijs prix_le_plus_bas lägsta_pris
    """,
    Hint.UNIT: r"""
        \b(?:per|pro|par|au|al|por|za|je)_(?:1_?|100_?)?(?:kg|kilo\w*|l|lt|lit\w+|g|gr|gram\w*|ml|m2|m²|meter|metre)\W*$
        \bunit_price grundpreis eenheidsprijs prix_unitaire
    """,
}
_BEFORE_HINTS = tuple((hint, _any_of(words)) for hint, words in _WORDS_BEFORE.items())
_WORDS_AFTER = {
    Hint.UNIT: r"""
        ^\s*(?:/|per\b|pro\b|par\b|por\b|je\b|za\b)\s*(?!\s*(?:1\s?)?(?:st|stück|stuk|each|ea|item|piece|pc|unit|box|pack|pair|set|szt|ks|stk|unité|unidad|pezzo|paar|bottle|fles)\b)(?:1\s?)?\d*\s?[a-zа-яµ²³]{1,9}\b
    """,
    Hint.OTHER_AMOUNT: r"""
        ^\s+(?:flat[_-]?rate_)?(?:shipping|delivery|postage|handling|fee\b|deposit\b|livraison|frais_de_port)
        ^\s*(?:d['’])?(?:éco-?part|écotaxe|eco-?(?:tax|fee|part)|recycl\w+|recupel|auvibel|verwijderingsbijdrage)
        ^\s+(?:verzendkosten|verzending|bezorgkosten|versand\w*|envío|spedizione|frete|frakt|fragt)
        ^\s*\)?\s*(?:with_[a-z]*_?card|[сc]_(?:\w+_)?картой|по_карте|off\b|(?:\w+_){0,2}discount|coupon|voucher|gutschein|rebate|(?:in_)?credit\b|korting|rabatt|saved\b|cashback|x\b|(?:em|en|in)\s\d+\s?(?:x|rat|cuotas|fois|termijn)|mtl\b|monatl|\W?\s?(?:/|per|p/?|a)\s?(?:year|jaar|jahr|mo\b|month|maand|monat|mois|mes|mies|měs|мес|kk\b|mnd|mån|ay\b))
    """,
    Hint.UNTAXED: r"""
        ^\s*[(（]?\s*(?:(?:excl|exkl|ekskl|eks|uden|utan|ohne|zzgl)\w*\.?_(?:\d+_?%_)?(?:vat|tax|btw|gst|mwst|ust|moms|mva|iva)|excl\w*\.?\W*$|ex\.?_?(?:vat|tax|btw|gst)|hors_taxe|ht\b|nett[oó]\b|(?:sin|sem)_iva|iva_esclusa|bez_dph|без_ндс|brez_ddv|bez_pdv|bez_pvn|be_pvm|без_пдв|fără_tva|kdv_hariç|(?:plus|\+)_?(?:vat|iva|tax|gst)|税抜|税別)
        ^\#\W*(?:in[ck]\w*\.?_(?:vat|tax|btw|gst|mwst|moms|mva|dph|iva|tva)|ttc|brutto)
    """,
    Hint.CURRENT: r"""
        ^\s*[(（]?\s*(?:in[ck]\w*\.?_(?:\d+_?%_)?(?:vat|tax|btw|gst|mwst|ust|moms|mva|dph|iva|tva)|ttc\b|brutto|iva_inclu\w+|税込|à_vista)
    """,
}
_AFTER_HINTS = tuple((hint, _any_of(words)) for hint, words in _WORDS_AFTER.items())


@lru_cache(maxsize=4_096)
def hints_before(words: str) -> Hints:
    """What the words before a price say of it: 'was', 'you save', 'from', 'now'; the nearest words decide."""
    found = Hint.NONE
    for hint, pattern in _BEFORE_HINTS:
        if pattern.search(words):
            found |= hint
    return found


@lru_cache(maxsize=4_096)
def hints_after(words: str) -> Hints:
    """What the words right behind a price say of it: 'per kg', 'off', 'excl. VAT'."""
    found = Hint.NONE
    for hint, pattern in _AFTER_HINTS:
        if pattern.search(words):
            found |= hint
    return found


PRICE_WORDS = _any_of(
    r"""
    price prijs preis prix precio preço prezzo cena cenu \bpris\b hinta \bár\b preț pret цена ціна fiyat τιμή
    価格 価額 价格 價格 가격 harga \bgiá\b السعر מחיר
    """
)
"""What languages call a price."""
BUY_TEXT = _any_of(
    r"""
    add_to_(?:shopping_)?(?:cart|basket|bag|trolley|order) \bbuy_(?:it_)?now\b ^buy$ ^add$ order_now
    toevoegen_aan_(?:winkel\w+|mandje|tas) voeg_toe_aan
    in_(?:de_|het_|mijn_)?winkel\w+ add_(?:item_)?(?:for|to)_(?:shipping|pickup|delivery|my_bag)
    in_winkel(?:wagen|mand) in_mandje \bbestel(?:len)?\b
    in_den_(?:waren|einkaufs)\w+ zum_warenkorb \bkaufen\b
    ajouter_(?:au|à_(?:mon|la|votre))_panier ^ajouter$ mettre_au_panier \bacheter\b
    añadir_a(?:_la|l)?_(?:carrito|cesta|carro|bolsa) agregar_al_carr\w+ \bcomprar\b
    aggiungi_al(?:la|_)?_?(?:carrello|borsa|shopping) \bcompra\b \bacquista\b
    adicionar_(?:ao|à)_(?:carrinho|sacola|cesto) do_koszyka kup_teraz do_košíku do_košíka \bkoupit\b \bkúpiť\b
    lägg_(?:i|till_i)_(?:varu|kund)\w+ \bköp\b læg_i_(?:indkøbs)?kurv tilføj_til_kurv ^køb(?:_nu)?$ legg_i_handle\w+
    \bkjøp\b lisää_(?:osto)?skoriin lisää_ostoskoriin \bosta\b kosárba adaug\w+_(?:î|i)n_co в_корзину
    \bкупить\b до_кошика \bкупити\b в_количката sepete_ekle カートに(?:入れる|追加) (?:買い物)?かごに 購入
    加入购物车 (?:เพิ่มลง|ใส่)ตะกร้า 加入購物車 立即购买 장바구니 구매
    στο_καλάθι u_košaricu v_košarico ^naroči$ ^naruči$ ^tellige$ ^pasūtīt$ ^pirkt$ ^pirkti$ ^užsakyti$ ^поръчай$
    ^објави$ ^замовити$ ^заказать$ ostukorvi į_krepšelį grozam thêm_vào_giỏ masukkan_keranjang
    place_(?:your_|a_)?bid \bbid_now\b ^bid$ bod_plaatsen plaats_(?:een_|uw_)?bod ^bieden$ gebot_abgeben
    \benchérir\b \bpujar\b
    beli_sekarang (?:tambah|masuk\w*)_ke(?:_dalam)?_keranjang beli_langsung mua_ngay cho_vào_giỏ أضف_إلى اشتر הוסף_לסל
    lisa_(?:ostu)?korvi osta_kohe pievienot_grozam ielikt_grozā į_krepšel pirkti pridėti dodaj_u_k dodaj_v_
    dodaj_do_(?:koszyka|torby)
    hozzáad kosárba_teszem megveszem pridať_do vložit_do přidat_do objednat objednať купи_сега добави_в
    додати_в hemen_al
    satın_al ekle$ 바로_?구매 立即購買 立刻购买 加到购物车 ซื้อเลย ซื้อสินค้า zur_kasse in_die_einkaufstasche
    warenkorb_legen in_den_korb mettre_dans_le_panier ajouter_au_(?:caddie|sac) commander$ adicionar_à_
    prosseguir_com_a_compra
    afrekenen voeg_toe$ in_mand$ læg_i_kurven lägg_i_kassen til_kurven
    """
)
"""What a button says that sells the thing."""
RELATED_HEADINGS = _any_of(
    r"""
    ^related (?:products|items|articles)_related related_to_this similar_items compare_with shop_similar ^sponsored
    ^compare inspired_by buy_it_with what_other_(?:items|customers) people_also ^trending ^new_arrivals ^best_?sellers
    ^featured_(?:products|items) ^recommendations top_picks ^alternatives? ^more_like
    ^more_(?:products|items) other_sellers
    ^replaced_by ^replacement ^vergelijkbare ^alternatieven andere_artikelen ^alternativen ähnlich wird_oft_zusammen
    les_internautes autres_produits produits_de_remplacement otros_productos quienes_(?:vieron|compraron) altri_prodotti
    outros_produtos quem_comprou inne_produkty produkty_powiązane mohlo_by alternativy související další_produkty
    ^similar ^recommended you_(?:may|might)_(?:also_)?(?:like|love) customers?_(?:who|also) ^also_
    frequently_bought recently_viewed complete_(?:the|your) ^more_from goes_(?:well|great)_with pairs_well
    gerelateerd vergelijkbar anderen_(?:kochten|bekeken) ook_interessant combineer_met aanbevolen laatst_bekeken
    kunden_(?:kauften|haben)(?:_auch)? ähnliche das_könnte passend_dazu zuletzt_angesehen empfehlung
    produits?_(?:similaires|associés) vous_aimerez les_clients productos_(?:relacionados|similares)
    también_te prodotti_(?:correlati|simili) potrebbe_interessarti produtos_(?:relacionados|similares)
    quem_(?:viu|comprou) podobne_produkty polecane klienci_kupili podobné související liknande relaterade
    andra_köpte lignende relaterede andre_købte samankaltais hasonló_termék produse_similare похожие с_этим_товаром
    схожі benzer_ürün 関連商品 おすすめ 相关商品
    """
)
"""What heads a part of the page that shows other products."""
BUY_CLASS_NAMES = re.compile(
    r"add[-_ ]?to[-_ ]?(?:cart|basket|bag)|addtocart|btn-?cart|buy-?now|buybutton|add2cart|tocart|product-form__submit",
    re.IGNORECASE,
)
"""How such a button is named in markup."""
