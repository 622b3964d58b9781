"""Which tests run on which database, so that one machine of CI can take one half of them."""

import pytest

DATABASES = ("sqlite", "postgresql")
_POSTGRES = {"postgres", "postgresql"}


def check_choice(wanted: str) -> None:
    """Refuse a word that is no database; an empty one means both."""
    if wanted and wanted not in DATABASES:
        msg = f"TEST_DATABASE is {wanted!r}; it may be {' or '.join(DATABASES)}, or empty for both"
        raise pytest.UsageError(msg)


def database_of(item: pytest.Item) -> str:
    """The database that a test runs on, by its fixtures and their parameters; without any, it goes with SQLite."""
    fixtures = set(getattr(item, "fixturenames", ()))
    chosen = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    return "postgresql" if _POSTGRES & (fixtures | {each for each in chosen if isinstance(each, str)}) else "sqlite"
