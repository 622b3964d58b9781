from dataclasses import dataclass
from typing import Any

import pytest

from tidemill.bootstrap.adapters import with_installed_adapters
from tidemill.core.record import Found
from tidemill.verticals.events.definition import EVENTS

pytestmark = pytest.mark.shows("P2")

OWN = {"events": EVENTS}


class TownHall:
    id = "events.townhall"
    version = "1.2.0"
    domain = "arnhem.nl"
    vertical = "events"
    needs_browser = False

    def read(self, _page: Any, _context: Any) -> Found:
        return Found(records=())


@dataclass(frozen=True)
class Point:
    name: str
    found: Any
    value: str = "somewhere:ADAPTER"

    def load(self) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def changed(**attributes: Any) -> Any:
    return type("Changed", (TownHall,), attributes)()


def test_an_adapter_of_another_package_stands_beside_our_own() -> None:
    verticals, unusable = with_installed_adapters(OWN, [Point("townhall", TownHall())])
    assert unusable == ()
    assert {"events.townhall", "events.generic"} <= set(verticals["events"].adapters)
    assert (verticals["events"].name, verticals["events"].policy) == ("events", EVENTS.policy)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (ImportError("no module named x"), "cannot be imported (ImportError: no module named x)"),
        (ZeroDivisionError(), "cannot be imported"),
        (object(), "has no `id`"),
        (changed(version="new"), "'new' is not like 1.0.0"),
        (changed(needs_browser="no"), "has no `needs_browser` of type bool"),
        (changed(vertical="weather"), "there is no vertical 'weather'"),
        (changed(id="events.generic"), "'events.generic' is taken"),
        (changed(read=None), "no method `read(page, context)`"),
    ],
)
def test_one_that_cannot_be_used_is_left_out_with_a_reason_and_harms_no_other(found: Any, reason: str) -> None:
    verticals, unusable = with_installed_adapters(OWN, [Point("bad", found), Point("good", TownHall())])
    assert "events.townhall" in verticals["events"].adapters
    (left_out,) = unusable
    assert left_out.name == "bad"
    assert reason in left_out.reason


def test_of_two_with_one_id_the_first_is_taken() -> None:
    verticals, unusable = with_installed_adapters(OWN, [Point("a", TownHall()), Point("b", TownHall())])
    assert [each.name for each in unusable] == ["b"]
    assert "events.townhall" in verticals["events"].adapters
