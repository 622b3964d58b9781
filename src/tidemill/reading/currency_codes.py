"""Currencies and their decimals (ISO 4217)."""

from decimal import ROUND_HALF_UP, Decimal

_WITHOUT_CENTS = frozenset("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split())
_IN_THOUSANDTHS = frozenset("BHD IQD JOD KWD LYD OMR TND".split())

CODES = frozenset(
    """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP
    CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF
    IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK
    MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR
    SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND
    VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL
    """.split()
)
"""Current currencies, and a few old ones that pages still name."""


def exponent(currency: str) -> int:
    """Return how many decimals a currency has: 2 for most, 0 for the yen, 3 for the Kuwaiti dinar."""
    if currency in _WITHOUT_CENTS:
        return 0
    return 3 if currency in _IN_THOUSANDTHS else 2


def in_cents(amount: Decimal, currency: str) -> int:
    """Return an amount in the currency's smallest unit (cents, pence, yen), as stored; halves are rounded up."""
    return int(amount.scaleb(exponent(currency)).quantize(Decimal(1), ROUND_HALF_UP))


def in_units(cents: int, currency: str) -> Decimal:
    """Return a stored price in whole units: 1999 is 19.99 in dollars, and 1999 in yen."""
    return Decimal(cents).scaleb(-exponent(currency))
