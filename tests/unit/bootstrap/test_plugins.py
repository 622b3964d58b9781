from dataclasses import dataclass
from typing import Any

import pytest

from tidemill.bootstrap.installed import with_installed_plugins
from tidemill.bootstrap.plugins import OWN, PLUGINS, UNUSABLE_PLUGINS
from tidemill.plugin import Plugin
from tidemill.verticals.events import EventsPlugin


class Books(EventsPlugin):
    name = "books"
    commands = {}  # noqa: RUF012 - a table, never changed


@dataclass(frozen=True)
class Point:
    name: str
    found: Any
    value: str = "somewhere:VERTICAL"

    def load(self) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def named(name: Any, **attributes: Any) -> Plugin[Any, Any]:
    return type("Changed", (Books,), {"name": name, **attributes})()


def test_our_own_verticals_are_there_and_usable() -> None:
    assert [*PLUGINS][:4] == [plugin.name for plugin in OWN] == ["events", "prices", "listings", "matches"]
    assert not UNUSABLE_PLUGINS


def test_a_vertical_of_another_package_stands_beside_our_own() -> None:
    found, unusable = with_installed_plugins(OWN, [Point("books", Books())])
    assert (list(found), unusable) == (["events", "prices", "listings", "matches", "books"], ())


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (ImportError("no module named 'numpy'"), "it cannot be imported (ImportError: no module named 'numpy')"),
        (RuntimeError("boom"), "it cannot be imported (RuntimeError: boom)"),
        (Books, "it is no `tidemill.plugin.Plugin`"),
        (named("events"), "the name 'events' is taken"),
        (named("Good Books"), "its `name` is not made of small letters, digits and underscores"),
        (named(None), "its `name` is not made of small letters, digits and underscores"),
        (named("books", migrations="nowhere.at_all"), "there is no package 'nowhere.at_all' with its migrations"),
        (named("books", migrations="tidemill.plugin"), "there is no package 'tidemill.plugin' with its migrations"),
    ],
)
def test_one_that_cannot_be_used_is_left_out_with_the_reason(found: Any, reason: str) -> None:
    verticals, unusable = with_installed_plugins(OWN, [Point("bad", found), Point("films", named("films"))])
    assert list(verticals) == ["events", "prices", "listings", "matches", "films"]
    assert [(each.name, each.reason) for each in unusable] == [("bad", reason)]


def test_of_two_packages_with_the_same_vertical_the_first_is_used() -> None:
    first, second = named("books"), named("books")
    found, unusable = with_installed_plugins(OWN, [Point("b", second, "b:VERTICAL"), Point("a", first, "a:VERTICAL")])
    assert found["books"] is first
    assert [(each.where, each.reason) for each in unusable] == [("b:VERTICAL", "the name 'books' is taken")]
