"""From `tidemill new adapter` to golden pages that are read field by field."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from rig.clock import NOON
from tidemill.bootstrap.verticals import VERTICALS
from tidemill.cli.commands.pages.savefixture import save_golden_page
from tidemill.cli.golden_adapters import adapters_in_folder
from tidemill.cli.scaffolding import scaffold, verticals
from tidemill.core.page import Page
from tidemill.core.source import Coordinates, Source
from tidemill.core.verdict import Accepted, Dropped
from tidemill.core.vertical import Context
from tidemill.operations.golden import cases_in, check, read_case
from tidemill.operations.mistakes import Mistake
from tidemill.verticals.prices.reasons import DropReason


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return scaffold("townhall-arnhem", "events", "https://www.arnhem.nl/agenda", tmp_path, NOON)[0].parent


@pytest.mark.shows("A3", "C7")
def test_a_new_adapter_reads_its_golden_pages_as_it_should(made: Path) -> None:
    ((adapter, golden),) = adapters_in_folder(made)
    assert (adapter.id, adapter.version, adapter.domain) == ("events.townhall-arnhem", "1.0.0", "arnhem.nl")
    done = check(adapter, golden, NOON)
    assert [(one.case, one.differences) for one in done] == [
        ("usual", ()), ("empty", ()), ("changed", ()), ("blocked", ()),
    ]  # fmt: skip


@pytest.mark.shows("A3", "C7")
def test_there_is_a_template_for_every_vertical() -> None:
    assert verticals() == sorted(VERTICALS)


@pytest.mark.parametrize("vertical", verticals())
def test_the_records_of_a_new_adapter_are_kept_by_its_vertical(tmp_path: Path, vertical: str) -> None:
    """The template's field names are the vertical's own: what it reads is worth something downstream."""
    ((adapter, golden),) = adapters_in_folder(scaffold("some-site", vertical, "example.org", tmp_path, NOON)[0].parent)
    usual = cases_in(golden)[0]
    source = Source(
        id=1, name="new", vertical=vertical, base_url=usual.url, adapter_id=adapter.id, time_zone="Europe/Amsterdam",
        coordinates=Coordinates(52.37, 4.9),
    )  # fmt: skip
    context = Context(source, usual.url, usual.captured_at)
    verdicts = [VERTICALS[vertical].judge(record, context) for record in read_case(adapter, usual, golden).records]
    assert verdicts
    assert all(isinstance(verdict, Accepted) for verdict in verdicts), verdicts


def test_a_sold_out_product_without_a_price_is_a_harmless_drop_of_a_new_adapter(tmp_path: Path) -> None:
    ((adapter, golden),) = adapters_in_folder(scaffold("some-shop", "prices", "example.org", tmp_path, NOON)[0].parent)
    case = next(case for case in cases_in(golden) if case.name == "sold-out")
    source = Source(id=1, name="new", vertical="prices", base_url=case.url, adapter_id=adapter.id)
    (record,) = read_case(adapter, case, golden).records
    verdict = VERTICALS["prices"].judge(record, Context(source, case.url, case.captured_at))
    assert isinstance(verdict, Dropped)
    assert (verdict.reason, verdict.harmless) == (DropReason.OOS_NO_PRICE, True)


@pytest.mark.parametrize("vertical", verticals())
def test_a_field_that_moved_is_told_by_name(tmp_path: Path, vertical: str) -> None:
    ((adapter, golden),) = adapters_in_folder(scaffold("some-site", vertical, "example.org", tmp_path, NOON)[0].parent)
    page, case = golden / "usual.html", cases_in(golden)[0]
    title = str((case.records or [])[0]["title"])
    page.write_text(page.read_text().replace(title, "Something else"))
    told = check(adapter, golden, NOON)[0].differences
    assert told == (f"record 1, title: 'Something else' was read, {title!r} is on the page",)


@pytest.mark.shows("A3")
@pytest.mark.parametrize("vertical", verticals())
def test_the_test_that_comes_with_it_passes(tmp_path: Path, vertical: str) -> None:
    folder = scaffold("some-site", vertical, "example.org", tmp_path, NOON)[0].parent
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", str(folder)],
        cwd=folder, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_that_is_read_differently_is_told_field_by_field(made: Path) -> None:
    ((adapter, golden),) = adapters_in_folder(made)
    page = golden / "usual.html"
    page.write_text(
        page.read_text().replace("Grote Kerk", "Kleine Kerk").replace("2026-11-22T10:00", "2026-11-22T11:00")
    )
    usual = check(adapter, golden, NOON)[0]
    assert usual.differences == (
        "record 1, place: 'Kleine Kerk' was read, 'Grote Kerk' is on the page",
        "record 2, starts: '2026-11-22T11:00' was read, '2026-11-22T10:00' is on the page",
    )


def test_golden_pages_of_over_90_days_are_marked_as_old(made: Path) -> None:
    ((adapter, golden),) = adapters_in_folder(made)
    assert not any(one.old for one in check(adapter, golden, NOON + timedelta(days=90)))
    assert all(one.old for one in check(adapter, golden, NOON + timedelta(days=91)))


def test_a_saved_page_becomes_a_golden_one_with_what_is_read_of_it_today(made: Path) -> None:
    ((adapter, golden),) = adapters_in_folder(made)
    body = (golden / "usual.html").read_bytes().replace(b"Streekmarkt", b"Kerstmarkt")
    page = Page(
        id=1, url="https://arnhem.nl/agenda", final_url="https://arnhem.nl/agenda", status_code=200, body=body,
        charset="utf-8", content_type="text/html", digest=0, fetched_at=NOON,
    )  # fmt: skip
    save_golden_page(page, adapter, golden, "december")
    save_golden_page(msgspec.structs.replace(page, body=b"<p>nothing</p>"), adapter, golden, "changed")
    cases = {case.name: case for case in cases_in(golden)}
    assert [record["title"] for record in cases["december"].records or []] == ["Jazz in de kerk", "Kerstmarkt"]
    assert cases["changed"].failure == "empty_page"
    assert all(one.holds for one in check(adapter, golden, NOON))


@pytest.mark.parametrize(
    ("name", "vertical", "host", "words"),
    [
        ("Town Hall", "events", "arnhem.nl", "cannot be an adapter's name"),
        ("../evil", "events", "arnhem.nl", "cannot be an adapter's name"),
        ("town", "weather", "arnhem.nl", "no template for 'weather'"),
        ("town", "events", "http://", "is no site"),
    ],
)
def test_what_cannot_be_made_is_said(tmp_path: Path, name: str, vertical: str, host: str, words: str) -> None:
    with pytest.raises(Mistake, match=words):
        scaffold(name, vertical, host, tmp_path, NOON)


def test_nothing_is_overwritten(made: Path) -> None:
    with pytest.raises(Mistake, match="exists already"):
        scaffold("townhall-arnhem", "events", "arnhem.nl", made.parent, NOON)
