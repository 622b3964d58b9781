"""A dead letter taken along as a failing test: it fails the same way offline, and keeps no secret."""

import io
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from rig.clock import SettableClock
from rig.shopfront import REDESIGNED, Market, product_page
from tidemill.bootstrap.verticals import VERTICALS
from tidemill.cli.app import app
from tidemill.core.views import DeadLetterFilter
from tidemill.operations.bundles.bundle import BODY, FACTS, check_bundle, read_bundle, write_bundle
from tidemill.operations.mistakes import Conflict, Mistake
from tidemill.store.database.database import Database

pytestmark = pytest.mark.shows("X10")

PLANTED = "s3cr3t-planted-token"


@pytest.fixture
async def market(database: Database, clock: SettableClock, tmp_path: Path) -> AsyncIterator[Market]:
    made = Market(database, clock, tmp_path)
    await made.shop("acme", [product_page()], headers={"Authorization": f"Bearer {PLANTED}"})
    yield made
    await made.system.close()


async def dead_letter(market: Market, page: str) -> int:
    market.show("acme", 0, page)
    await market.run("acme")
    (letter,) = await market.system.store.views.dead_letters(DeadLetterFilter(), limit=10)
    return letter.id


async def test_a_bundle_fails_the_same_way_offline_until_the_page_is_read(market: Market) -> None:
    key = await dead_letter(market, REDESIGNED)
    letter = (await market.system.actions.dead_letters.find(key)).letter
    facts = read_bundle(await market.system.actions.bundles.bundle(key, "ans"))
    done = check_bundle(facts, VERTICALS)
    assert (done.found, done.fails_the_same_way, done.detail) == (letter.error_type, True, letter.error_message)
    assert done.version_then == done.version_now != ""
    mended = msgspec.structs.replace(facts, page=msgspec.structs.replace(facts.page, body=product_page().encode()))
    assert check_bundle(mended, VERTICALS).words.startswith("reads well now: 1 records")
    other = msgspec.structs.replace(facts, failure="timeout")
    assert "fails otherwise" in check_bundle(other, VERTICALS).words


async def test_a_bundle_is_audited_and_the_same_each_time(market: Market) -> None:
    key = await dead_letter(market, REDESIGNED)
    assert await market.system.actions.bundles.bundle(key, "ans") == await market.system.actions.bundles.bundle(
        key, "x"
    )
    newest = (await market.system.store.audit.latest())[0].entry
    assert (newest.actor, newest.action, newest.subject) == ("x", "dlq.bundle", f"dead letter {key}")


async def test_no_secret_is_in_a_bundle_even_where_the_page_repeats_it(market: Market) -> None:
    key = await dead_letter(market, REDESIGNED.replace("Nothing", f"Hello {PLANTED}, nothing"))
    content = await market.system.actions.bundles.bundle(key, "ans")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert {FACTS, BODY} < set(files)
    assert not [name for name, text in files.items() if PLANTED.encode() in text]
    assert b"Authorization" in files[FACTS]
    assert check_bundle(read_bundle(content), VERTICALS).fails_the_same_way


async def test_a_letter_without_a_page_has_nothing_to_read_offline(market: Market) -> None:
    market.front.pages.clear()
    await market.run("acme")
    (letter,) = await market.system.store.views.dead_letters(DeadLetterFilter(), limit=10)
    with pytest.raises(Conflict, match="nothing that could be read offline"):
        await market.system.actions.bundles.bundle(letter.id, "ans")


async def test_the_command_answers_by_its_exit_code(market: Market, tmp_path: Path) -> None:
    key = await dead_letter(market, REDESIGNED)
    content = await market.system.actions.bundles.bundle(key, "ans")
    facts = read_bundle(content)
    mended = msgspec.structs.replace(facts, page=msgspec.structs.replace(facts.page, body=product_page().encode()))
    (tmp_path / "dead.zip").write_bytes(content)
    (tmp_path / "mended.zip").write_bytes(write_bundle(mended))
    (tmp_path / "none.zip").write_bytes(b"no zip")
    said = {name: CliRunner().invoke(app, ["check", str(tmp_path / name)]) for name in ("dead.zip", "mended.zip")}
    assert {name: each.exit_code for name, each in said.items()} == {"dead.zip": 1, "mended.zip": 0}
    assert "fails the same way" in said["dead.zip"].output
    with pytest.raises(Mistake, match="no bundle of a dead letter"):
        read_bundle((tmp_path / "none.zip").read_bytes())


def test_a_bundle_that_unpacks_to_more_than_a_page_may_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemill.operations.bundles.bundle.LARGEST_FACTS", 1_000)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FACTS, b" " * 1_001)
        archive.writestr(BODY, b"")
    with pytest.raises(Mistake, match="larger than"):
        read_bundle(made.getvalue())
