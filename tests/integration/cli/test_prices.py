"""Prices, review and adapters from the command line, on a database that a run has filled."""

import json
from pathlib import Path
from typing import Any

import pytest

from rig.clock import SettableClock
from rig.shopfront import Market, product_page
from tidemill.cli.app import run
from tidemill.store.database.database import open_database

ZERO = product_page(price="0.00", sku="Z")


@pytest.fixture
async def database(migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path) -> str:
    market = Market(open_database(migrated_sqlite_url), clock, tmp_path)
    pages = [product_page(), product_page(sku="B", name="A thing", brand=None), ZERO]
    await market.shop("acme", pages, visibility="ELIGIBLE")
    await market.run("acme")
    await market.system.close()
    return f"sqlite:///{tmp_path / 'tidemill.db'}"


class Terminal:
    """Types commands and reads what is answered."""

    def __init__(self, database: str, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._place = ["--database", database]
        self._capsys = capsys
        self._settings = folder / "tidemill.toml"
        self._settings.write_text(f'pages_folder = "{folder / "pages"}"\nallow_networks = ["127.0.0.0/8"]\n')

    def type(self, *words: str) -> tuple[int, str]:
        code = run(["--settings", str(self._settings), *self._place, *words])
        told = self._capsys.readouterr()
        return code, told.out + told.err

    def read(self, *words: str) -> Any:
        code, text = self.type(*words, "--json")
        assert code == 0, text
        return json.loads(text)


@pytest.fixture
def terminal(database: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Terminal:
    return Terminal(database, capsys, tmp_path)


def test_what_was_set_aside_is_reviewed(terminal: Terminal) -> None:
    (record,) = terminal.read("quarantine", "list")
    code, text = terminal.type("quarantine", "release", str(record["id"]))
    assert (code, "ZERO_PRICE_EXTRACTED" in text) == (2, True)
    code, text = terminal.type("quarantine", "release", str(record["id"]), "--set", "price=9.99", "--notes", "asked")
    assert (code, text.strip()) == (0, "1 record released")
    assert terminal.type("quarantine", "reject", "--all", "--yes") == (0, "0 records rejected\n")
    assert "released by" in terminal.type("quarantine", "show", str(record["id"]))[1]


@pytest.mark.shows("C6")
def test_a_price_is_looked_up_corrected_and_ignored(terminal: Terminal) -> None:
    (offer,) = (each for each in terminal.read("prices", "offers") if each["price_cents"] == 1495 and each["brand"])
    (price,) = terminal.read("prices", "history", str(offer["id"]))
    code, text = terminal.type("corrections", "correct", str(price["id"]), "1295", "--reason", "misread")
    assert (code, "12.95 USD" in text) == (0, True)
    assert terminal.read("prices", "history", str(offer["id"]))[0]["price_cents"] == 1295
    assert terminal.read("prices", "history", str(offer["id"]), "--raw")[0]["price_cents"] == 1495
    assert terminal.type("corrections", "ignore", str(price["id"]), "--reason", "never mind")[0] == 0
    assert terminal.read("prices", "history", str(offer["id"])) == []
    assert len(terminal.read("corrections", "list")) == 2


@pytest.mark.shows("C4")
def test_an_offer_that_the_resolver_left_is_made_a_product(terminal: Terminal) -> None:
    (waiting,) = terminal.read("prices", "review")
    code, text = terminal.type("prices", "new-product", str(waiting["source_product_id"]))
    assert (code, "new product" in text) == (0, True)
    assert terminal.read("prices", "review") == []
    assert len(terminal.read("prices", "products")) == 2


@pytest.mark.shows("R5")
def test_an_adapter_is_tried_blessed_and_switched(terminal: Terminal) -> None:
    trial = terminal.read("adapters", "try", "prices.generic")
    assert (trial["pages"], trial["well"], trial["reasons"]) == (3, 2, {"ZERO_PRICE_EXTRACTED": 1})
    (shares,) = terminal.read("adapters", "bless", "prices.generic").values()
    assert shares["title"] == 1.0
    assert terminal.type("adapters", "disable", "prices.generic", "--reason", "to see")[0] == 0
    code, text = terminal.type("adapters", "enable", "prices.generic")
    assert (code, "2 of 3 stored pages went well" in text) == (0, True)
    assert terminal.read("incidents", "list", "--over")[0]["rule"] == "zero_price"


def test_a_webhook_is_added_listed_and_removed(terminal: Terminal) -> None:
    made = terminal.read(
        "webhooks", "add", "mine", "http://127.0.0.1:9/hook", "--feed", "prices", "--kind", "price_drop"
    )
    assert (made["subscription"]["kinds"], len(made["secret"])) == (["price_drop"], 64)
    assert [each["name"] for each in terminal.read("webhooks", "list")] == ["mine"]
    code, text = terminal.type("webhooks", "add", "inside", "http://10.0.0.1/hook", "--feed", "prices")
    assert (code, "may not be called" in text) == (2, True)
    assert terminal.type("webhooks", "remove", "mine")[0] == 0
