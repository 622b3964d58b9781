import gzip
import json
import zlib
from datetime import datetime, timedelta
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidemill.lab.faults import (
    BlockPage,
    BrokenEmpty,
    BrokenJsonLd,
    ConsentWall,
    DstNight,
    EmptyList,
    Fault,
    Forbidden403,
    HugePage,
    MalformedHtml,
    Outage,
    Redesign,
    RobotsChange,
    RobotsDown,
    ScheduledFault,
    ServerError500,
    SlowDrip,
    TimeOut,
    Timetable,
    TooMany429,
    TruncatedBody,
    TruncatedList,
    TruncatedPages,
    WrongCharset,
)
from tidemill.lab.messages import Behaviour, LabRequest, LabResponse
from tidemill.lab.world import EPOCH, World
from tidemill.verticals.events.lab.content import TrueEvent
from tidemill.verticals.events.lab.group import agenda_sites, true_events, world_of
from tidemill.verticals.events.lab.makes import REDESIGNED, SELECTORS, Selectors
from tidemill.verticals.events.lab.sites import Make, build_sites

pytestmark = pytest.mark.shows("X5")

SITES = {site.make: site for site in build_sites(7, 12)}
STRUCTURED = (Make.JSONLD_ARRAY, Make.JSONLD_GRAPH)


def world_with(make: Make, *faults: Fault) -> World:
    site = SITES[make]
    return world_of(
        [site], Timetable(ScheduledFault(host=site.host, kind="x", fault=fault, begins=EPOCH) for fault in faults)
    )


def ask(world: World, path: str | None = None, moment: datetime = EPOCH, **headers: str) -> LabResponse:
    [site] = agenda_sites(world).values()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return world.respond(LabRequest(site.host, path or site.paths[0], names), moment)


def truth_of(world: World, path: str | None = None, moment: datetime = EPOCH) -> list[TrueEvent]:
    [site] = agenda_sites(world).values()
    return [event for event in true_events(world, site.host, moment) if event.page == (path or site.paths[0])]


def selected(body: bytes, selectors: Selectors) -> list[dict[str, str]]:
    """What the selectors find: per item the text, or the attribute after the @."""
    items = LexborHTMLParser(body.decode()).css(selectors["item"])
    return [
        {name: one(item, rule) for name, rule in selectors.items() if name not in {"item", "empty"}} for item in items
    ]


def one(item: LexborNode, rule: str) -> str:
    css, _, attribute = rule.partition("@")
    node = item.css_first(css)
    if node is None:
        return ""
    return (node.attributes[attribute] or "") if attribute else node.text(strip=True)


def json_events(body: bytes) -> list[dict[str, Any]]:
    blocks = [
        json.loads(node.text()) for node in LexborHTMLParser(body.decode()).css('script[type="application/ld+json"]')
    ]
    nodes = [node for block in blocks for node in (block if isinstance(block, list) else block["@graph"])]
    return [node for node in nodes if node["@type"] == "Event"]


@pytest.mark.parametrize("make", STRUCTURED)
def test_structured_data_tells_the_truth(make: Make) -> None:
    world = world_with(make)
    for day in range(5):
        moment = EPOCH + timedelta(days=day)
        read = [
            (event["url"], event["name"], event["startDate"], "Cancelled" in event["eventStatus"])
            for event in json_events(ask(world, moment=moment).body)
        ]
        true = truth_of(world, moment=moment)
        assert read == [(event.url, event.title, event.starts.isoformat(), event.cancelled) for event in true]


def test_microdata_tells_the_truth() -> None:
    world = world_with(Make.MICRODATA)
    page = LexborHTMLParser(ask(world).body.decode())
    starts = [node.attributes["content"] for node in page.css('[itemprop="startDate"]')]
    titles = [node.text() for node in page.css('h3 [itemprop="name"]')]
    assert list(zip(titles, starts, strict=True)) == [
        (event.title, event.starts.isoformat()) for event in truth_of(world)
    ]


@pytest.mark.parametrize("make", list(SELECTORS))
def test_the_selectors_find_the_truth(make: Make) -> None:
    world = world_with(make)
    [site] = agenda_sites(world).values()
    read = selected(ask(world).body, SELECTORS[make])
    assert [(one["title"], site.origin + one["url"], one["place"]) for one in read] == [
        (event.title, event.url, event.place) for event in truth_of(world)
    ]


def test_dutch_cards_write_dates_as_people_do() -> None:
    world = world_with(Make.CARDS)
    first = selected(ask(world).body, SELECTORS[Make.CARDS])[0]
    assert truth_of(world)[0].starts.isoformat() == "2026-11-04T18:00:00+01:00"
    assert first["starts"] == "woensdag 4 november 2026, 18.00 uur"


def test_an_english_table_writes_dates_as_people_do() -> None:
    world = world_with(Make.TABLE)
    rows = selected(ask(world).body, SELECTORS[Make.TABLE])
    for row, event in zip(rows, truth_of(world), strict=True):
        assert row["starts"].startswith(f"{event.starts:%A} {event.starts.day} {event.starts:%B %Y}, ")
        assert row["starts"].endswith(f":{event.starts:%M} {event.starts:%p}".lower())


def test_a_list_names_near_days_and_leaves_out_the_year() -> None:
    world = world_with(Make.LIST)
    seen = set()
    for day in range(20):
        moment = EPOCH + timedelta(days=day)
        rows = selected(ask(world, moment=moment).body, SELECTORS[Make.LIST])
        for row, event in zip(rows, truth_of(world, moment=moment), strict=True):
            ahead = (event.starts.date() - moment.date()).days
            word = {0: "vandaag", 1: "morgen", 2: "overmorgen"}.get(ahead, "")
            assert row["starts"].startswith(word)
            assert "2026" not in row["starts"]
            seen.add(word)
    assert seen == {"vandaag", "morgen", "overmorgen", ""}


@pytest.mark.parametrize("make", list(Make))
def test_pages_weigh_what_real_ones_do(make: Make) -> None:
    assert 10_000 < len(ask(world_with(make)).body) < 45_000


@pytest.mark.parametrize("make", list(Make))
def test_an_event_has_a_page_of_its_own_while_it_is_on_the_site(make: Make) -> None:
    world = world_with(make)
    [site] = agenda_sites(world).values()
    event = truth_of(world)[0]
    path = event.url.removeprefix(site.origin)
    assert event.title in LexborHTMLParser(ask(world, path).body.decode()).css_first("h1").text()
    assert ask(world, path, EPOCH + timedelta(days=90)).status == 410
    assert ask(world, path, EPOCH - timedelta(days=90)).status == 404
    assert ask(world, path + "x").status == 404
    assert ask(world, site.vocabulary.detail + "nonsense").status == 404
    assert ask(world, "/elsewhere").status == 404


def test_a_host_that_is_not_there_is_misdirected() -> None:
    assert world_with(Make.CARDS).respond(LabRequest("elsewhere.test", "/"), EPOCH).status == 421


def test_an_unchanged_page_answers_304_to_its_etag_and_to_its_date() -> None:
    world = world_with(Make.CARDS)
    first = ask(world)
    assert ask(world, if_none_match=first.headers["etag"]).status == 304
    assert ask(world, if_modified_since=first.headers["last-modified"]).status == 304
    assert ask(world, if_none_match='"other"', if_modified_since=first.headers["last-modified"]).status == 200
    assert ask(world, if_modified_since="no date at all").status == 200


@pytest.mark.parametrize("make", list(Make))
def test_a_304_is_never_given_to_a_page_that_changed(make: Make) -> None:
    world = world_with(make)
    known = ask(world)
    changes = 0
    for hour in range(1, 24 * 10):
        moment = EPOCH + timedelta(hours=hour)
        now = ask(world, moment=moment)
        by_date = ask(world, moment=moment, if_modified_since=known.headers["last-modified"])
        if now.body != known.body:
            assert by_date.status == 200
            changes += 1
            known = now
    assert changes > 2


def test_pages_come_compressed_to_those_who_ask_for_it() -> None:
    site = next(site for site in build_sites(7, 12) if site.compresses)
    world = world_of([site])
    plain, packed = ask(world), ask(world, accept_encoding="gzip, br")
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert packed.headers["etag"] == plain.headers["etag"]


def test_a_403_a_429_and_a_500_answer_with_their_status() -> None:
    assert ask(world_with(Make.CARDS, Forbidden403())).status == 403
    assert ask(world_with(Make.CARDS, ServerError500(502))).status == 502
    limited = ask(world_with(Make.CARDS, TooMany429(120)))
    assert (limited.status, limited.headers["retry-after"]) == (429, "120")


def test_faults_of_pages_hold_on_detail_pages_too() -> None:
    world = world_with(Make.CARDS, Forbidden403())
    [site] = agenda_sites(world).values()
    event = truth_of(world)[0]
    assert ask(world, event.url.removeprefix(site.origin)).status == 403


def test_a_time_out_hangs_and_an_outage_refuses() -> None:
    assert ask(world_with(Make.CARDS, TimeOut())).behaviour is Behaviour.HANG
    world = world_with(Make.CARDS, Outage())
    assert ask(world).behaviour is Behaviour.REFUSE
    assert ask(world, "/robots.txt").behaviour is Behaviour.REFUSE


def test_a_slow_drip_sends_the_whole_page_in_pieces() -> None:
    answer = ask(world_with(Make.CARDS, SlowDrip(timedelta(seconds=3), 7)))
    assert (answer.behaviour, answer.pause, answer.pieces) == (Behaviour.DRIP, timedelta(seconds=3), 7)
    assert answer.body == ask(world_with(Make.CARDS)).body


def test_a_truncated_body_is_cut_within_the_page() -> None:
    answer = ask(world_with(Make.CARDS, TruncatedBody(0.4)))
    assert answer.behaviour is Behaviour.CUT
    assert 0 < answer.sent < len(answer.body)


@pytest.mark.parametrize("make", list(Make))
def test_malformed_html_still_holds_its_titles(make: Make) -> None:
    world = world_with(make, MalformedHtml())
    body = ask(world).body
    assert b"\x00" in body
    assert b"</p>" not in body
    if make in SELECTORS:
        assert len(selected(body, SELECTORS[make])) == len(truth_of(world))


def test_an_empty_agenda_says_so() -> None:
    body = ask(world_with(Make.CARDS, EmptyList())).body.decode()
    assert "geen activiteiten gepland" in body
    assert "agenda-item" not in (LexborHTMLParser(body).css_first("main").html or "")


def test_a_broken_agenda_is_empty_without_saying_so() -> None:
    body = ask(world_with(Make.CARDS, BrokenEmpty())).body.decode()
    assert "geen activiteiten" not in body
    assert selected(body.encode(), SELECTORS[Make.CARDS]) == []


@pytest.mark.parametrize("make", list(Make))
def test_a_redesign_defeats_the_old_selectors_and_fits_the_new(make: Make) -> None:
    world = world_with(make, Redesign())
    [site] = agenda_sites(world).values()
    body = ask(world).body
    assert b"application/ld+json" not in body
    assert b"itemscope" not in body
    if make in SELECTORS:
        assert selected(body, SELECTORS[make]) == []
    assert [(one["title"], site.origin + one["url"], one["starts"]) for one in selected(body, REDESIGNED)] == [
        (event.title, event.url, f"{event.starts:%Y-%m-%dT%H:%M}") for event in truth_of(world)
    ]


def test_robots_change_for_a_while_and_can_be_down() -> None:
    well = ask(world_with(Make.CARDS), "/robots.txt").body.decode()
    assert "Disallow: /beheer/" in well
    assert "Disallow: /agenda" not in well
    assert "Disallow: /agenda" in ask(world_with(Make.CARDS, RobotsChange()), "/robots.txt").body.decode()
    assert "Disallow: /whats-on" in ask(world_with(Make.TABLE, RobotsChange()), "/robots.txt").body.decode()
    down = world_with(Make.CARDS, RobotsDown())
    assert ask(down, "/robots.txt").status == 503
    assert ask(down).status == 200


def test_a_huge_page_is_tiny_on_the_wire_and_huge_behind_it() -> None:
    answer = ask(world_with(Make.CARDS, HugePage(200)), accept_encoding="gzip")
    assert answer.stream is not None
    packed = b"".join(answer.stream())
    assert len(packed) < 1_000_000
    unpacker = zlib.decompressobj(wbits=31)
    size = sum(len(unpacker.decompress(packed[start : start + 1000])) for start in range(0, len(packed), 1000))
    assert size == 200_000_000
    assert unpacker.eof


def test_a_huge_page_comes_piece_by_piece_without_compression() -> None:
    answer = ask(world_with(Make.CARDS, HugePage(3)))
    assert answer.stream is not None
    assert [len(piece) for piece in answer.stream()] == [1_000_000] * 3


def test_a_wrong_charset_is_not_what_the_header_says() -> None:
    answer = ask(world_with(Make.CARDS, WrongCharset("utf-8", "windows-1252")))
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    with pytest.raises(UnicodeDecodeError):
        answer.body.decode("utf-8")
    assert answer.body.decode("windows-1252") == ask(world_with(Make.CARDS)).body.decode()


@pytest.mark.parametrize("make", list(SELECTORS))
def test_a_truncated_list_shows_its_first_events_and_looks_whole(make: Make) -> None:
    world = world_with(make, TruncatedList(0.05))
    true = truth_of(world)
    read = selected(ask(world).body, SELECTORS[make])
    assert [one["title"] for one in read] == [true[0].title]
    assert len(true) > 10


def test_sites_that_say_how_many_there_are_say_so_of_a_truncated_list_too() -> None:
    site = next(site for site in build_sites(7, 12) if site.claims_total)
    world = world_of([site], Timetable([ScheduledFault(host=site.host, kind="x", fault=TruncatedList(), begins=EPOCH)]))
    claim = LexborHTMLParser(ask(world).body.decode()).css_first(".agenda-count")
    assert claim.attributes["data-total"] == str(len(truth_of(world)))


@pytest.mark.parametrize(("fault", "mark"), [(BlockPage(), "captcha"), (ConsentWall(), "cookies accepteren")])
def test_walls_answer_200_without_any_event(fault: Fault, mark: str) -> None:
    world = world_with(Make.CARDS, fault)
    answer = ask(world)
    assert answer.status == 200
    assert mark in answer.body.decode()
    assert truth_of(world)[0].title not in answer.body.decode()


@pytest.mark.parametrize("make", list(Make))
def test_broken_json_ld_does_not_parse(make: Make) -> None:
    body = ask(world_with(make, BrokenJsonLd())).body
    first = LexborHTMLParser(body.decode()).css_first('script[type="application/ld+json"]')
    with pytest.raises(json.JSONDecodeError):
        json.loads(first.text())


def test_a_broken_block_leaves_its_neighbours_whole() -> None:
    body = ask(world_with(Make.JSONLD_GRAPH, BrokenJsonLd())).body
    blocks = LexborHTMLParser(body.decode()).css('script[type="application/ld+json"]')
    assert all(json.loads(block.text()) for block in blocks[1:])


def test_the_clock_change_is_written_without_an_offset() -> None:
    events = json_events(ask(world_with(Make.JSONLD_ARRAY, DstNight())).body)
    assert "2027-03-28T02:30:00" in [event["startDate"] for event in events]


def test_a_page_with_a_fault_carries_no_validators() -> None:
    for fault in (EmptyList(), TruncatedList(), DstNight(), MalformedHtml()):
        assert "etag" not in ask(world_with(Make.CARDS, fault)).headers


def paged_world(fault=None):
    site = next(site for site in build_sites(7, 12) if site.per_page)
    faults = Timetable(
        [ScheduledFault(host=site.host, kind="x", fault=fault, begins=EPOCH - timedelta(days=1))] if fault else []
    )
    return site, world_of([site], faults)


def titles_on(world, site, page):
    path = site.paths[0] if page == 1 else f"{site.paths[0]}?page={page}"
    body = world.respond(LabRequest(site.host, path), EPOCH).body.decode()
    return [
        event.title
        for event in true_events(world, site.host, EPOCH)
        if event.page == site.paths[0] and event.url in body
    ], body


def test_an_agenda_over_several_pages_shows_everything_once_and_names_the_next_page():
    site, world = paged_world()
    everything = [event.title for event in true_events(world, site.host, EPOCH) if event.page == site.paths[0]]
    shown, page = [], 1
    while True:
        titles, body = titles_on(world, site, page)
        shown += titles
        assert f"van {len(everything)} " in body
        if 'rel="next"' not in body:
            break
        page += 1
        assert f"?page={page}" in body
    assert page > 1
    assert sorted(shown) == sorted(everything)


def test_truncated_pagination_names_no_next_page_though_the_list_goes_on():
    site, world = paged_world(TruncatedPages())
    titles, body = titles_on(world, site, 1)
    assert len(titles) == site.per_page
    assert 'rel="next"' not in body
