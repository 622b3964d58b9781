"""Markup without what nobody reads, so that a limit on a page counts its content."""

import re

_OPENING = re.compile(r"<(script|style|svg|noscript|template)(?=[\s/>])|<!--", re.IGNORECASE)
_CLOSING = {
    name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in ("script", "style", "svg", "noscript", "template")
} | {"": re.compile(r"-->")}


def content_of_markup(markup: str) -> str:
    """The markup without scripts, styles, drawings and comments; one that is never closed is left as it is.

    Linear: the end of each is sought once, and of a kind that has no further end never again.
    """
    pieces: list[str] = []
    endless: set[str] = set()
    reached = begins = 0
    while (opening := _OPENING.search(markup, begins)) is not None:
        begins = opening.end()
        name = (opening[1] or "").lower()
        closing = _CLOSING[name].search(markup, begins) if name not in endless else None
        if closing is None:
            endless.add(name)
            continue
        pieces.append(markup[reached : opening.start()])
        reached = begins = closing.end()
    return "".join([*pieces, markup[reached:]]) if pieces else markup
