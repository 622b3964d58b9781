"""Canonical JSON and its checksum: the same bytes for the same state in Python and in JavaScript.

Keys are sorted, there are no spaces, and nothing is written that the two languages would write differently: no null
(what is not there is absent), no number that a JavaScript number cannot hold, no fraction in exponent notation.
"""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import msgspec

DEEPEST = 32
LARGEST_STATE = 512_000
"""Bytes of canonical JSON: a Test match with every ball takes about 200,000."""
LONGEST_KEY = 200
GREATEST_INTEGER = 2**53 - 1
"""The greatest integer that a JavaScript number holds exactly."""
FRACTIONS = (1e-4, 1e15)
"""Between these both languages write the shortest decimal; beyond them at least one uses an exponent."""
LAST_KEY_CHARACTER = "\ud7ff"
"""Beyond it code points and UTF-16 units sort differently."""
WIRE_DIGITS = 16
"""Hex digits of a checksum that events carry."""

_encoder = msgspec.json.Encoder(order="sorted")


class BadState(ValueError):
    """A state that cannot be kept; the message says where and why."""


def canonical(state: Mapping[str, Any]) -> bytes:
    """Return the canonical JSON of a state; raise `BadState` for what has none."""
    encoded = _encoder.encode(plain(state))
    if len(encoded) > LARGEST_STATE:
        msg = f"the state takes {len(encoded)} bytes, more than {LARGEST_STATE}"
        raise BadState(msg)
    return encoded


def checksum(encoded: bytes) -> str:
    """Return the sha256 of canonical JSON, in hex."""
    return hashlib.sha256(encoded).hexdigest()


def wire_checksum(full: str) -> str:
    """Return as much of a checksum as events carry."""
    return full[:WIRE_DIGITS]


def plain(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state as plain JSON values; raise `BadState` for what may not stand in one."""
    return _object(state, "", DEEPEST)


def _object(value: Mapping[str, Any], where: str, deep: int) -> dict[str, Any]:
    if not deep:
        msg = f"{where or 'the state'} is nested deeper than {DEEPEST} levels"
        raise BadState(msg)
    return {
        _key(f"{key}", where): _value(item, f"{where}.{key}" if where else key, deep - 1) for key, item in value.items()
    }


def _key(key: str, where: str) -> str:
    if not 0 < len(key) <= LONGEST_KEY or max(key) > LAST_KEY_CHARACTER:
        msg = f"{where or 'the state'} has a key that cannot be kept; keys are 1 to {LONGEST_KEY} ordinary characters"
        raise BadState(msg)
    return key


def _value(value: Any, where: str, deep: int) -> Any:
    match value:
        case bool():
            return value
        case str():
            return _text(value, where)
        case int():
            return _integer(value, where)
        case float():
            return _fraction(value, where)
        case Mapping():
            return _object(value, where, deep)
        case list() | tuple() if deep:
            return [_value(item, f"{where}[{number}]", deep - 1) for number, item in enumerate(value)]
        case _:
            msg = f"{where} holds {type(value).__name__}; leave out what is not there, and write the rest as plain JSON"
            raise BadState(msg)


def _text(value: str, where: str) -> str:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            msg = f"{where} holds half of a character"
            raise BadState(msg) from error
    return value


def _integer(value: int, where: str) -> int:
    if abs(value) > GREATEST_INTEGER:
        msg = f"{where} is beyond what a JavaScript number holds; write it as text"
        raise BadState(msg)
    return value


def _fraction(value: float, where: str) -> float | int:
    if value.is_integer() and abs(value) <= GREATEST_INTEGER:
        return int(value)  # JavaScript writes 20.0 as 20
    if not math.isfinite(value) or not FRACTIONS[0] <= abs(value) <= FRACTIONS[1]:
        msg = f"{where} is a number that languages write differently; write it as text"
        raise BadState(msg)
    return value
