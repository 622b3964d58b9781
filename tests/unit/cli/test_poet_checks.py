"""Fixtures of page objects are made by `savefixture` and run by `check`."""

from datetime import UTC, datetime

import pytest

from tidemill.cli.poet_checks import checked_fixtures, save_fixture
from tidemill.core.page import Page
from tidemill.operations.mistakes import Mistake

NAME = "poet:rig.foreign.poet_embedded:ScriptPage"
BODY = b'<script id=state type="application/json">{"product": {"title": "Case"}}</script>'
PAGE = Page(
    id=0, url="https://data.example/p", final_url="https://data.example/p", status_code=200, body=BODY, charset="utf-8",
    content_type="text/html", digest=0, fetched_at=datetime(2026, 11, 18, 12, tzinfo=UTC),
)  # fmt: skip


def test_a_saved_fixture_holds_until_its_page_is_read_differently(tmp_path):
    where = save_fixture(NAME, PAGE, "usual", tmp_path)
    assert [(one.adapter, one.case, one.holds) for one in checked_fixtures(tmp_path)] == [
        ("rig.foreign.poet_embedded.ScriptPage", "usual", True)
    ]
    output = where / "output.json"
    output.write_text(output.read_text(encoding="utf-8").replace("Case", "Box"), encoding="utf-8")
    [one] = checked_fixtures(tmp_path)
    assert not one.holds
    assert one.differences[0].startswith("data: ")


def test_a_fixture_of_code_that_is_gone_says_so(tmp_path):
    save_fixture(NAME, PAGE, "usual", tmp_path)
    (tmp_path / "rig.foreign.poet_embedded.ScriptPage").rename(tmp_path / "rig.foreign.poet_embedded.Gone")
    [one] = checked_fixtures(tmp_path)
    assert one.differences == ("there is no class Gone in rig.foreign.poet_embedded",)


def test_a_fixture_is_not_written_over(tmp_path):
    save_fixture(NAME, PAGE, "usual", tmp_path)
    with pytest.raises(Mistake, match="already"):
        save_fixture(NAME, PAGE, "usual", tmp_path)


def test_a_folder_without_fixtures_has_none(tmp_path):
    assert checked_fixtures(tmp_path) == []
