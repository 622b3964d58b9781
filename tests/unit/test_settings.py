"""Every setting has bounds: what makes no sense is refused at start, in words that name the setting."""

import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import SecretStr

from tidemill.core.checks.retention import DEFAULT_RULES, LONGEST_DAYS, SHORTEST_DAYS
from tidemill.settings import BadSettings, HostPace, Settings, load_settings
from tidemill.store.schema import tick_slots
from tidemill.store.upkeep.retention import RULES

NUMBERS = (int, float)
ZERO_IS_GOOD = {
    "database_wait_seconds",  # ends at once
    "metrics_port",  # any free one
    "web_port",  # picks a free one
    "llm_dollars_per_day", "llm_dollars_per_pass", "llm_price_in", "llm_price_out",
    "geocoder_interval_seconds", "discovery_interval_seconds",
    "discovery_auto_enable", "discovery_questions_per_month",
    "feed_weights", "reader_processes", "scrapingbee_credits", "apify_dollars",
    "live_browser_watches", "live_free_megabytes", "metrics_sources",
    "gate_lost_percent", "gate_added_percent", "gate_field_points", "gate_identity_percent", "gate_changed_percent",
}  # fmt: skip
"""Settings of which 0 is a value with a meaning; the others must be refused."""


def plain(kind: Any) -> list[Any]:
    """The plain types that an annotation allows: `float | None` is float and None."""
    if get_origin(kind) is Annotated:
        return plain(get_args(kind)[0])
    if get_origin(kind) in {Union, types.UnionType}:
        return [each for part in get_args(kind) for each in plain(part)]
    return [kind]


def numeric(name: str) -> Iterator[Any]:
    """A number's wrapping: called with a number, what to set; nothing if the setting holds no number."""
    for kind in plain(Settings.model_fields[name].annotation):
        if kind in NUMBERS:
            yield lambda number: number
        if get_origin(kind) is dict and plain(get_args(kind)[1])[0] in NUMBERS:
            keys = plain(get_args(kind)[0])[0]
            known = get_args(keys) if get_origin(keys) is Literal else tuple(DEFAULT_RULES)
            for key in known:
                yield lambda number, key=key: {key: number}


def refusal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, **settings: Any) -> str:
    """The words with which settings are refused; '' if they are taken."""
    monkeypatch.chdir(tmp_path)
    try:
        load_settings(**settings)
    except BadSettings as error:
        return str(error)
    return ""


EVERY = pytest.mark.parametrize("name", sorted(Settings.model_fields))


@EVERY
@pytest.mark.parametrize("number", [-1, 10**15, 1e308, float("nan"), float("inf"), -float("inf")])
def test_a_number_out_of_bounds_is_refused_by_name(
    name: str, number: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for wrapped in numeric(name):
        assert name in refusal(monkeypatch, tmp_path, **{name: wrapped(number)}), wrapped(number)


@EVERY
def test_zero_is_refused_unless_it_means_something(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for wrapped in numeric(name):
        words = refusal(monkeypatch, tmp_path, **{name: wrapped(0)})
        assert bool(words) is (name not in ZERO_IS_GOOD), words
        assert not words or name in words


@EVERY
@pytest.mark.parametrize("value", [object(), {"nonsense": {"deep": []}}, [{}], True, b"\xff", 3.5j])
def test_a_value_of_another_type_is_refused_by_name(
    name: str, value: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if isinstance(value, bool) and bool in plain(Settings.model_fields[name].annotation):
        return
    assert name in refusal(monkeypatch, tmp_path, **{name: value})


@EVERY
def test_a_text_where_none_belongs_is_refused_by_name(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kinds = plain(Settings.model_fields[name].annotation)
    if {str, SecretStr, Path} & set(kinds):
        return
    assert name in refusal(monkeypatch, tmp_path, **{name: "plenty"})


@EVERY
def test_an_unknown_key_in_a_table_of_settings_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for kind in plain(Settings.model_fields[name].annotation):
        if get_origin(kind) is dict and name not in {"ticks", "host_addresses", "host_paces"}:  # keys of one's own
            assert name in refusal(monkeypatch, tmp_path, **{name: {"nope": 1}})


def test_unknown_settings_are_refused_with_the_nearest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text("retention_day = {}\n")
    with pytest.raises(BadSettings, match="unknown setting 'retention_day'; did you mean 'retention_days'"):
        load_settings(file)
    monkeypatch.setenv("TIDEMILL_JOBS_IN_HANDS", "3")
    assert "did you mean 'jobs_in_hand'?" in refusal(monkeypatch, tmp_path)


def test_a_negative_retention_is_refused_before_anything_is_deleted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = refusal(monkeypatch, tmp_path, retention_days={"raw_pages": -3})
    assert words.endswith("raw_pages: -3 days is out of bounds; write 1 to 36500")


def test_an_unknown_table_is_refused_with_the_nearest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = refusal(monkeypatch, tmp_path, retention_days={"raw_page": 30})
    assert "unknown table 'raw_page'; did you mean 'raw_pages'?" in words


def test_every_table_that_is_pruned_can_be_set_and_has_bounds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert set(DEFAULT_RULES) == {*RULES, tick_slots.name}
    for table, span in DEFAULT_RULES.items():
        shortest = SHORTEST_DAYS.get(table, 1)
        assert shortest <= span.days <= LONGEST_DAYS
        for days in (shortest, span.days, LONGEST_DAYS):
            assert refusal(monkeypatch, tmp_path, retention_days={table: days}) == ""
        for days in (shortest * 0.9, LONGEST_DAYS + 1):
            assert table in refusal(monkeypatch, tmp_path, retention_days={table: days})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"allow_networks": ["nope"]}, "'nope' allows nothing: write a network (10.0.0.0/8)"),
        ({"allow_networks": ["10.0.0.0/64"]}, "allows nothing"),
        ({"host_addresses": {"a.test": "nope"}}, "'nope' is no address; write one like 127.0.0.1"),
        ({"host_addresses": {"http://a": "::1"}}, "no plain host name"),
        ({"host_paces": {"a.example": {"intervall": 1}}}, "host_paces"),
        ({"ticks": {"dispatch": "0 * * * * *"}}, "five fields"),
        ({"ticks": {"dispatch": "every 999999999d"}}, "write a year at most"),
        ({"discovery_noise": ["www.agenda.example"]}, "did you mean 'agenda.example'?"),
        ({"discovery_noise": ["nonsense"]}, "is no domain"),
        ({"database": "mysql://x:secret@y"}, "it must begin with sqlite:// or postgresql://"),
        ({"redis": "localhost"}, "it must begin with redis://"),
        ({"search_url": "serper"}, "is no web address"),
        ({"geocoder_url": "file:///etc/passwd"}, "is no web address"),
        ({"web_host": "a b"}, "web_host"),
        ({"user_agent": "Bot\r\nX: y"}, "user_agent"),
        ({"browser_soft_megabytes": 3_000}, "browser_soft_megabytes is above browser_hard_megabytes"),
    ],
)
def test_texts_that_cannot_be_used_are_refused_with_what_to_write(
    settings: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = refusal(monkeypatch, tmp_path, **settings)
    assert words in said
    assert "secret" not in said


def test_names_and_addresses_of_ones_own_networks_are_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    networks = ["10.0.0.0/8", "::1", "127.0.0.1:80", "intranet.example", "intranet:8080", "localhost"]
    hosts = {"a.test": "127.0.0.1", "b.test": "::1"}
    assert refusal(monkeypatch, tmp_path, allow_networks=networks, host_addresses=hosts) == ""


def test_a_pace_of_a_host_has_bounds() -> None:
    for field in HostPace.model_fields.values():
        bounds = {type(each).__name__ for each in field.metadata}
        assert {"Ge", "Le"} <= bounds


@pytest.mark.parametrize(
    ("line", "said"),
    [('alert_zone = "Mars/X"', "alert_zone: 'Mars/X' is no time zone"),
     ('alert_digest_at = "99"', "alert_digest_at: '99' is no time of the day; write 08:00"),
     ('alert_quiet_hours = "25-7"', "alert_quiet_hours '25-7' cannot be read"),
     ('slack_webhook = "nowhere"', "slack_webhook: this is no address of the web")],
)  # fmt: skip
def test_a_bad_setting_of_alerts_is_told_by_its_own_name(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "tidemill.toml"
    file.write_text(line)
    with pytest.raises(BadSettings) as told:
        load_settings(file)
    assert said in str(told.value)
    assert "Value error" not in str(told.value)
