"""Tags: short words by which people group sources, such as `north` or `trial`."""

import re
from collections.abc import Iterable, Sequence

MOST_TAGS = 20
_TAG = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}", re.ASCII)


def tag_problem(tag: str) -> str:
    """Return why a word cannot be a tag; '' if it can."""
    if _TAG.fullmatch(tag):
        return ""
    return f"{tag[:60]!r} is no tag: write up to 40 small letters, digits, dashes and underscores, such as `north`"


def tags_problem(words: Sequence[str]) -> str:
    """Return why these cannot be the tags of one source; '' if they can."""
    if len(set(words)) > MOST_TAGS:
        return f"{len(set(words))} tags; a source has at most {MOST_TAGS}"
    return next(filter(None, map(tag_problem, words)), "")


def ordered_tags(words: Iterable[str]) -> tuple[str, ...]:
    """Return tags in order, each once."""
    return tuple(sorted(set(words)))


def tags_text(tags: Iterable[str]) -> str:
    """Return tags as they are kept: a blank before and after each, so that one can be looked for in the text."""
    words = ordered_tags(tags)
    return f" {' '.join(words)} " if words else ""


def tags_of(text: str) -> tuple[str, ...]:
    """Return the tags that `tags_text` wrote."""
    return ordered_tags(text.split())
