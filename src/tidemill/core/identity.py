"""What makes two records the same one: fingerprints over normalized text."""

import hashlib
import unicodedata

from xxhash import xxh3_64_intdigest

_HALF_RANGE = 1 << 63


def normalized(text: str) -> str:
    """Text as it counts for identity: case, accents' composition and runs of white space do not."""
    if text.isascii():
        lowered = text.strip().lower()
        return lowered if lowered.isprintable() and "  " not in lowered else " ".join(lowered.split())
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def fingerprint(*parts: str) -> str:
    """The sha256 of the parts, in hex; what separates them cannot occur inside them."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def signed_checksum(data: bytes) -> int:
    """The xxh3-64 of the bytes, shifted into the range of a database's signed integers."""
    return xxh3_64_intdigest(data) - _HALF_RANGE
