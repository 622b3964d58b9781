from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tidemill.core.pacing import Pace
from tidemill.core.source import Coordinates, FetcherKind, Visibility
from tidemill.operations import yaml_nodes
from tidemill.operations.plans import (
    LONGEST_MESSAGE,
    LONGEST_NAME,
    MOST_PROBLEMS,
    KnownAdapters,
    Problem,
    ProblemList,
    SourcePlan,
    TargetTemplate,
)
from tidemill.operations.source_file import read_entries, read_sources

pytestmark = pytest.mark.shows("S1")

KNOWN = KnownAdapters({"events": {"events.generic", "events.selectors"}, "prices": {"prices.generic"}})

WHOLE = """\
sources:
  - name: jazzclub
    vertical: events
    base_url: https://Jazzclub.example.org
    adapter: events.generic
    fetcher: http
    enabled: false
    tier: hot
    language: no
    time_zone: Europe/Amsterdam
    city: Utrecht
    latitude: 52.09
    longitude: 5.12
    precedence: 70
    pace: {interval_seconds: 1.5, burst: 3, parallel: 2}
    timeout_seconds: 12
    headers: {Accept-Language: nl}
    tos: {reviewed_at: 2026-01-05, approved_by: Ans}
    robots_compliant: true
    visibility: eligible
    trust: {shipping: known}
    settings: {selectors: {card: .event}}
    targets:
      - https://www.jazzclub.example.org/agenda?utm_source=x
      - {url: /programma, schedule: every 6h, priority: 5, adapter: events.selectors, notes: the old one}
"""

SMALL = "- {name: a, vertical: events, base_url: https://a.example, adapter: events.generic%s}\n"


def read(text: str) -> tuple[list[SourcePlan], list[Problem]]:
    troubles = ProblemList()
    return read_sources(text.encode(), KNOWN, troubles), troubles.found


@pytest.mark.inventory(94)
def test_every_field_of_a_source_is_read() -> None:
    [plan], problems = read(WHOLE)
    source = plan.source
    assert problems == []
    assert (source.name, source.vertical, source.adapter_id) == ("jazzclub", "events", "events.generic")
    assert source.base_url == "https://jazzclub.example.org/"
    assert (source.fetcher, source.enabled, source.tier) == (FetcherKind.HTTP, False, "hot")
    assert source.language == "no"  # the language, not YAML's no
    assert source.coordinates == Coordinates(52.09, 5.12)
    assert source.pace == Pace(timedelta(seconds=1.5), 3, 2)
    assert source.timeout == timedelta(seconds=12)
    assert source.headers == {"Accept-Language": "nl"}
    assert source.tos_reviewed_at == datetime(2026, 1, 5, tzinfo=UTC)
    assert source.tos_approved_by == "Ans"
    assert source.visibility is Visibility.ELIGIBLE
    assert source.trust == {"shipping": "known"}
    assert source.adapter_settings == {"selectors": {"card": ".event"}}
    assert (source.city, source.precedence, source.robots_compliant) == ("Utrecht", 70, True)


def test_targets_are_plain_addresses_or_have_fields_of_their_own() -> None:
    [plan], _ = read(WHOLE)
    first, second = (each.target for each in plan.targets)
    assert first.canonical_url == "https://www.jazzclub.example.org/agenda"
    assert (first.host, first.adapter_id, first.schedule) == ("example.org", "events.generic", None)
    assert second.url == "https://jazzclub.example.org/programma"
    assert (second.schedule, second.priority, second.adapter_id, second.notes) == (
        "every 6h", 5, "events.selectors", "the old one"
    )  # fmt: skip


def test_only_the_fields_that_are_written_are_spoken_of() -> None:
    [plan], _ = read(SMALL % ", tier: hot")
    assert plan.fields == {"name", "vertical", "base_url", "adapter_id", "tier"}


def test_a_source_may_have_a_pace_per_host_name() -> None:
    [plan], _ = read(SMALL % ", settings: {pace_per: host}, targets: [https://west.a.example/x]")
    assert plan.targets[0].target.host == "west.a.example"


def test_bad_entries_are_told_by_line_and_good_ones_kept() -> None:
    text = (SMALL % "") + "- name: b\n  vertical: evnts\n  base_url: ftp://b\n  adapter: events.generic\n"
    text += "- just text\n" + (SMALL % "").replace("name: a", "name: c")
    plans, problems = read(text)
    assert [plan.source.name for plan in plans] == ["a", "c"]
    assert [(each.line, each.field) for each in problems] == [(4, "base_url"), (3, "vertical"), (6, "")]
    assert "did you mean 'events'?" in problems[1].message


@pytest.mark.parametrize(
    ("addition", "field", "words"),
    [
        (", pase: {burst: 2}", "pase", "did you mean 'pace'?"),
        (", pace: {burts: 2}", "pace", "did you mean 'burst'?"),
        (", pace: {burst: 0}", "pace", "from 1"),
        (", pace: quick", "pace", "write fields"),
        (", enabled: maybe", "enabled", "true or false"),
        (", time_zone: Europe/Amsterdm", "time_zone", "did you mean 'Europe/Amsterdam'?"),
        (", latitude: 52.1", "longitude", "add the longitude"),
        (", latitude: 152.1, longitude: 5", "latitude", "-90 to 90"),
        (", precedence: 3.5", "precedence", "whole"),
        (", precedence: high", "precedence", "number from 0 to 100"),
        (", fetcher: browsr", "fetcher", "did you mean 'browser'?"),
        (', headers: {X: "a\\nb"}', "headers", "is no header"),
        (", headers: {'a b': c}", "headers", "is no header"),
        (", headers: [a]", "headers", "write fields"),
        (", tos: {reviewed_at: soon}", "tos", "2026-03-02"),
        (", tos: {reviewed_at: 2026-13-40}", "tos", "2026-03-02"),
        (", city: [a]", "city", "some text"),
        (", settings: {<<: {a: 1}, b: !x 2}", "settings", "cannot be read"),
        (", targets: {url: x}", "targets", "write a list"),
    ],
)
def test_a_bad_value_is_told_with_what_to_write(addition: str, field: str, words: str) -> None:
    _, problems = read(SMALL % addition)
    assert [each.field for each in problems] == [field]
    assert words in problems[0].message
    assert problems[0].line == 1


@pytest.mark.parametrize(
    ("target", "field", "words"),
    [
        ("ftp://a.example/x", "url", "not a web address"),
        ("{url: /x, schedule: sometimes}", "schedule", "write cron"),
        ("{url: /x, adapter: events.genric}", "adapter", "did you mean 'events.generic'?"),
        ("{url: /x, shedule: '@daily'}", "targets", "did you mean 'schedule'?"),
        ("{notes: x}", "url", "needs its url"),
        ("{url: /x, priority: high}", "targets", "number"),
    ],
)
def test_a_bad_target_is_told_and_its_source_and_neighbours_are_kept(target: str, field: str, words: str) -> None:
    text = "- name: a\n  vertical: events\n  base_url: https://a.example\n  adapter: events.generic\n"
    [plan], problems = read(text + f"  targets:\n    - /good\n    - {target}\n")
    assert [each.target.canonical_url for each in plan.targets] == ["https://a.example/good"]
    assert [(each.line, each.field) for each in problems] == [(7, field)]
    assert words in problems[0].message


def test_required_fields_are_asked_for() -> None:
    _, problems = read("- {name: a, vertical: }")
    assert [each.field for each in problems] == ["vertical", "base_url", "adapter"]


def test_a_name_or_a_page_that_stands_twice_is_taken_once() -> None:
    plans, problems = read(SMALL % ", targets: [/x, /x#top]" + SMALL % "")
    assert len(plans) == 1
    assert len(plans[0].targets) == 1
    assert [(each.line, each.field) for each in problems] == [(1, "url"), (2, "name")]


def test_a_field_that_stands_twice_is_told() -> None:
    _, problems = read("- name: a\n  name: b\n")
    assert "twice (again on line 2)" in problems[0].message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("- name: [a\n- b: c", 2, "not YAML"),
        ("a: b: c", 1, "column 5"),
        ("a: 1\n---\nb: 2", 2, "not YAML"),
        ("x: \x00", 0, "not YAML"),
        ("", 0, "empty"),
        ("# nothing yet\n", 0, "empty"),
        ("just text", 1, "write a list"),
        ("sauces: []", 1, "did you mean 'sources'?"),
        ("[" * 100_000, 1, "nested over 30 deep"),
    ],
)
def test_a_file_that_is_no_sources_file_is_told_by_line_and_column(text: str, line: int, words: str) -> None:
    plans, problems = read(text)
    assert plans == []
    assert problems[0].line == line
    assert words in problems[0].message


def test_a_file_of_too_many_values_is_not_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_nodes, "MOST_NODES", 100)
    plans, problems = read("- {a: 1}\n" * 40)
    assert plans == []
    assert [(problem.line, problem.message) for problem in problems] == [
        (34, "this is not YAML: over 100 values; split it (line 34, column 3)")
    ]


def test_what_is_told_of_a_file_is_bounded_whatever_it_holds() -> None:
    _, problems = read("- {" + ", ".join(f"{'x' * 900}{at}: 1" for at in range(2_000)) + "}")
    assert len(problems) == MOST_PROBLEMS + 1
    assert all(len(each.field) <= LONGEST_NAME and len(each.message) <= LONGEST_MESSAGE for each in problems)


def test_a_file_that_is_not_utf_8_is_told_by_line() -> None:
    troubles = ProblemList()
    assert read_sources(b"- name: a\n  city: caf\xe9\n", KNOWN, troubles) == []
    assert troubles.found[0].line == 2
    assert "UTF-8" in troubles.found[0].message


def test_a_file_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemill.operations.yaml_nodes.LARGEST_FILE", 10)
    assert "split it" in read(WHOLE)[1][0].message


def test_aliases_of_aliases_are_refused_instead_of_written_out() -> None:
    bomb = "&a [x,x,x,x,x,x,x,x,x]"
    for name, before in zip("bcdefgh", "abcdefg", strict=True):
        bomb = f"&{name} [{bomb}" + f",*{before}" * 8 + "]"
    _, problems = read(SMALL % f", settings: {{deep: {bomb}}}")
    assert "keep settings small" in problems[0].message


def test_a_setting_that_holds_itself_is_refused() -> None:
    _, problems = read(SMALL % ", settings: &me {again: *me}")
    assert [each.field for each in problems] == ["settings"]


def test_a_file_full_of_problems_is_not_read_to_its_end() -> None:
    _, problems = read("- {x: 1}\n" * 5_000)
    assert len(problems) < 1_100
    assert "was not read" in problems[-1].message


def test_no_tag_makes_anything_but_data(tmp_path: Path) -> None:
    mark = tmp_path / "made"
    text = SMALL % f", settings: {{a: !!python/object/apply:os.mkdir ['{mark}']}}"
    _, problems = read(text)
    assert [each.field for each in problems] == ["settings"]
    assert not mark.exists()


def test_entries_made_by_a_program_are_read_by_the_same_rules() -> None:
    troubles = ProblemList()
    entry = {
        "name": "a",
        "vertical": "events",
        "base_url": "https://a.example",
        "adapter": "events.generic",
        "latitude": 52.0,
        "longitude": 5.0,
        "pace": {"interval_seconds": 0.0, "burst": 5, "parallel": 5},
        "targets": [{"url": "https://a.example/agenda", "schedule": "0 6 * * *"}],
    }
    [plan] = read_entries([entry], KNOWN, troubles)
    assert troubles.found == []
    assert plan.source.pace == Pace(timedelta(0), 5, 5)
    assert plan.source.coordinates == Coordinates(52.0, 5.0)
    assert plan.targets[0].target.schedule == "0 6 * * *"


async def laid_out(_now: datetime) -> int:
    return 1


def without_town(value: object) -> str:
    return "" if "{town}" in str(value) else "name the town in braces"


@pytest.mark.parametrize(
    ("url", "problems"),
    [("https://a.example/{town}", []),
     ("https://a.example/all", [("settings.town_url", "name the town in braces")])],
)  # fmt: skip
def test_a_template_of_targets_is_checked_by_whoever_brings_it(url: str, problems: list[tuple[str, str]]) -> None:
    known = KnownAdapters(KNOWN.adapters, [TargetTemplate("town_url", without_town, laid_out)])
    troubles = ProblemList()
    plans = read_sources((SMALL % f', settings: {{town_url: "{url}"}}').encode(), known, troubles)
    assert [(each.field, each.message) for each in troubles.found] == problems
    assert len(plans) == (not problems)
