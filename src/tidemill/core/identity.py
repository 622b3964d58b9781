"""Record identity: fingerprints over normalized text."""

import hashlib
import unicodedata

from xxhash import xxh3_64_intdigest

_HALF_RANGE = 1 << 63


def normalized(text: str) -> str:
    """Return text for comparison: case, composition of accents and runs of white space are ignored."""
    if text.isascii():
        lowered = text.strip().lower()
        return lowered if lowered.isprintable() and "  " not in lowered else " ".join(lowered.split())
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def fingerprint(*parts: str) -> str:
    """Return the sha256 of the parts in hex, joined by a character that they do not contain."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def signed_checksum(data: bytes) -> int:
    """Return the xxh3-64 of the bytes, shifted into the range of a signed 64-bit integer."""
    return xxh3_64_intdigest(data) - _HALF_RANGE
