"""A page with everything active taken out, for a person to look at: scraped markup is never trusted."""

from selectolax.lexbor import LexborHTMLParser

from tidemill.reading.limits.markup_limits import within_limits

_ACTIVE = "script, iframe, frame, frameset, object, embed, applet, portal, base, link, meta, template"
_URL_ATTRIBUTES = frozenset(
    {"href", "src", "action", "formaction", "xlink:href", "data", "srcdoc", "ping", "background"}
)
_SAFE_SCHEMES = ("http:", "https:", "mailto:", "tel:", "data:image/")


def sanitized_html(markup: str) -> str:
    """The same page without scripts, frames, handlers, and addresses that are more than a place."""
    tree = LexborHTMLParser(within_limits(markup)[0])
    for node in tree.css(_ACTIVE):
        node.decompose()
    for node in tree.css("*"):
        for name, value in list(node.attributes.items()):
            if name.lower().startswith("on") or (name.lower() in _URL_ATTRIBUTES and not _is_safe_url(value or "")):
                del node.attrs[name]
    return tree.html or ""


def _is_safe_url(address: str) -> bool:
    """Whether an address leads somewhere instead of doing something; browsers overlook blanks in it."""
    plain = "".join(letter for letter in address if letter > " ").lower()
    return ":" not in plain.partition("/")[0].partition("?")[0].partition("#")[0] or plain.startswith(_SAFE_SCHEMES)
