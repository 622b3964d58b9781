"""What the command-line framework says of a wrong argument, in the words that everything else uses."""

import re

from tidemill.core.checks.suggestions import unknown_name

_CHOICE = re.compile(r"Value error, '(?P<value>.*)' is not one of (?P<known>'.*')\.?$", re.DOTALL)
_BOUND = re.compile(r"Input should be (greater|less) than or equal to (-?[\d.]+)")
_MOMENT = re.compile(r"Input should be a valid datetime[^()\n]*")
_PHRASES = {
    "Input should be a valid integer, unable to parse string as an integer": "write a whole number",
    "Input should be a valid number, unable to parse string as a number": "write a number",
}


def in_our_words(message: str) -> str:
    """Return a message about an argument without the framework's own words, with the nearest of the known values."""
    if (choice := _CHOICE.search(message)) is not None:
        known = [each.strip("'") for each in choice["known"].split(", ")]
        return message[: choice.start()] + unknown_name("value", choice["value"], known)
    if (bound := _BOUND.search(message)) is not None:
        side = "at least" if bound[1] == "greater" else "at most"
        return f"{message[: bound.start()]}write {side} {bound[2]}"
    message = _MOMENT.sub("write a moment such as 2026-11-01T12:00, or a date", message)
    for theirs, ours in _PHRASES.items():
        message = message.replace(theirs, ours)
    return message.replace("Value error, ", "")
