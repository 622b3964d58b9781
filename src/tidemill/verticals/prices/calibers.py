"""Calibers by the many names that shops give them; one name each for comparing offers."""

import re

_NAMES = (
    ("9x18 Makarov", r"9\s?mm\s+makarov|9\s?x\s?18"),
    ("9mm Luger", r"9\s?mm(?:\s+(?:luger|para(?:bellum)?|nato))?|9\s?x\s?19|9\s?mm\s?\+p"),
    (".380 ACP", r"\.?380\s*(?:acp|auto)"),
    (".32 ACP", r"\.?32\s*(?:acp|auto)"),
    (".25 ACP", r"\.?25\s*(?:acp|auto)"),
    (".45 ACP", r"\.?45\s*(?:acp|auto)"),
    (".45 Colt", r"\.?45\s*(?:long\s+)?colt|\.?45\s*lc"),
    (".45-70 Government", r"\.?45\s*-\s*70"),
    (".40 S&W", r"\.?40\s*(?:s\s*&\s*w|smith|cal)"),
    ("10mm Auto", r"10\s?mm(?:\s+auto)?"),
    (".38 Special", r"\.?38\s*(?:special|spl)"),
    (".357 SIG", r"\.?357\s*sig"),
    (".357 Magnum", r"\.?357\s*(?:mag(?:num)?)"),
    (".44 Magnum", r"\.?44\s*(?:rem\w*\s+)?mag(?:num)?"),
    (".454 Casull", r"\.?454\s*casull"),
    ("5.7x28mm", r"5\.7\s?x\s?28|5\.7\s?mm"),
    ("7.62x25 Tokarev", r"7\.62\s?x\s?25"),
    ("5.56 NATO", r"5\.56(?:\s?x\s?45)?(?:\s?mm)?(?:\s+nato)?|m193|m855"),
    (".223 Remington", r"\.?223\s*(?:rem(?:ington)?|wylde)?"),
    (".224 Valkyrie", r"\.?224\s*valkyrie"),
    (".22-250 Remington", r"\.?22\s?-\s?250"),
    (".22 WMR", r"\.?22\s*(?:wmr|win\w*\s+mag\w*|mag(?:num)?)"),
    (".22 LR", r"\.?22\s*(?:lr|long\s+rifle)"),
    (".17 HMR", r"\.?17\s*hmr"),
    (".300 AAC Blackout", r"\.?300\s*(?:aac\s*)?(?:blackout|blk)"),
    (".300 Winchester Magnum", r"\.?300\s*win\w*\s+mag\w*"),
    (".308 Winchester", r"\.?308\s*(?:win(?:chester)?)?"),
    ("7.62x51 NATO", r"7\.62\s?x\s?51(?:\s?mm)?"),
    ("7.62x54R", r"7\.62\s?x\s?54\s?r?"),
    ("7.62x39", r"7\.62\s?x\s?39(?:\s?mm)?"),
    ("5.45x39", r"5\.45\s?x\s?39(?:\s?mm)?"),
    (".30-06 Springfield", r"\.?30\s?-\s?0?6"),
    (".30-30 Winchester", r"\.?30\s?-\s?30"),
    (".30 Carbine", r"\.?30\s*carbine"),
    (".243 Winchester", r"\.?243\s*(?:win(?:chester)?)?"),
    (".270 Winchester", r"\.?270\s*(?:win(?:chester)?)?"),
    ("6.5 Creedmoor", r"6\.5\s?(?:mm\s*)?creedmoor"),
    ("6.5 Grendel", r"6\.5\s?(?:mm\s*)?grendel"),
    ("6mm Creedmoor", r"6\s?mm\s*creedmoor"),
    ("6mm ARC", r"6\s?mm\s*arc"),
    ("6.8 SPC", r"6\.8\s?(?:mm\s*)?(?:rem\w*\s+)?spc"),
    ("7mm Remington Magnum", r"7\s?mm\s*rem\w*\s+mag\w*"),
    (".338 Lapua Magnum", r"\.?338\s*lapua"),
    (".350 Legend", r"\.?350\s*legend"),
    (".450 Bushmaster", r"\.?450\s*bushmaster"),
    (".50 BMG", r"\.?50\s*bmg"),
    ("12 Gauge", r"12\s*-?\s*(?:gauge|ga)"),
    ("16 Gauge", r"16\s*-?\s*(?:gauge|ga)"),
    ("20 Gauge", r"20\s*-?\s*(?:gauge|ga)"),
    ("28 Gauge", r"28\s*-?\s*(?:gauge|ga)"),
    (".410 Bore", r"\.?410\s*-?\s*(?:bore|gauge|ga)"),
)
_CALIBERS = tuple(
    (name, re.compile(rf"(?<![\w.]){pattern}(?![\w-]*\d)(?:\b|(?<=\W))", re.IGNORECASE)) for name, pattern in _NAMES
)


def caliber_in(text: str) -> str | None:
    """The caliber that a text names first; None if it names none."""
    found = [(match.start(), rank, name) for rank, (name, pattern) in enumerate(_CALIBERS)
             if (match := pattern.search(text)) is not None]  # fmt: skip
    return min(found)[2] if found else None


def is_shotgun(caliber: str | None) -> bool:
    """Whether a caliber is a shotgun's, whose shells have a length and a load."""
    return caliber is not None and caliber.endswith(("Gauge", "Bore"))
