"""The settings of a source that its adapter, its vertical or a fetcher reads, and what each may hold."""

from collections.abc import Callable, Collection, Mapping

from tidemill.core.checks.feed_settings import FEEDS, feed_list
from tidemill.core.checks.suggestions import unknown_name
from tidemill.core.source import DOMAINS, PACE_PER
from tidemill.core.urls import BadUrl, registrable_domain

CheckSetting = Callable[[object], str]
"""Returns what is wrong with a value, in words that say what to write; '' if nothing is."""

SettingChecks = Mapping[str, CheckSetting]
"""The settings that something reads, and how each is checked."""

LONGEST_TEXT = 500


def a_flag(value: object) -> str:
    """Check a value that is true or false."""
    return "" if isinstance(value, bool) else "write true or false"


def a_text(value: object) -> str:
    """Check a line of text."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        return "write a line of text"
    return "" if len(value) <= LONGEST_TEXT else f"write at most {LONGEST_TEXT} characters"


def one_of_words(*words: str) -> CheckSetting:
    """Return a check for one of several words."""

    def check(value: object) -> str:
        return "" if value in words else unknown_name("value", str(value), words)

    return check


def domain_names(value: object) -> str:
    """Check a list of registrable domains."""
    if not isinstance(value, list) or not value:
        return "write a list of domains, such as [example.org]"
    for each in value:
        try:
            if isinstance(each, str) and registrable_domain(each) == each.strip().lower():
                continue
        except BadUrl:
            pass
        return f"{each!r} is no registrable domain; write one such as example.org"
    return ""


COMMON: SettingChecks = {
    DOMAINS: domain_names,
    PACE_PER: one_of_words("host", "domain"),
    "paid_fallback": a_flag,
    FEEDS: feed_list,
}
"""What every source may set, whatever reads it."""


def settings_problems(settings: Mapping[str, object], known: SettingChecks) -> Collection[tuple[str, str]]:
    """Return the settings that cannot be used, each with why: an unknown name, or a value that it cannot have."""
    return [
        (name, problem)
        for name, value in settings.items()
        if (problem := known[name](value) if name in known else unknown_name("setting", name, known))
    ]
