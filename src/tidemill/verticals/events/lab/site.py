"""A site's answer to a request: a pure function of the world, the request and the moment."""

import gzip
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from enum import StrEnum
from functools import partial
from zoneinfo import ZoneInfo

import msgspec
import xxhash

from tidemill.lab.faults import (
    BlockPage,
    BrokenEmpty,
    BrokenJsonLd,
    ConsentWall,
    Fault,
    Forbidden403,
    HugePage,
    MalformedHtml,
    Outage,
    Redesign,
    RobotsChange,
    RobotsDown,
    ServerError500,
    SlowDrip,
    TimeOut,
    TooMany429,
    TruncatedBody,
    TruncatedList,
    TruncatedPages,
    WrongCharset,
)
from tidemill.verticals.events.lab import mishaps, templates
from tidemill.verticals.events.lab.makes import depends_on_today, fragment, nearness
from tidemill.verticals.events.lab.sites import Site
from tidemill.verticals.events.lab.world import PageState, ShownEntry, World
from tidemill.verticals.prices.lab.answer import answer as shop_answer
from tidemill.verticals.prices.lab.shop import Shop


class Behaviour(StrEnum):
    """How an answer is sent."""

    NORMAL = "normal"
    HANG = "hang"
    DRIP = "drip"
    CUT = "cut"
    REFUSE = "refuse"


class LabRequest(msgspec.Struct, frozen=True):
    """A request as a site sees it; header names in lower case."""

    host: str
    path: str
    headers: Mapping[str, str] = {}


class LabResponse(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, and how it is sent.

    `stream`, when set, yields the body piece by piece instead of `body`. A drip sends `pieces` pieces, one per
    `pause`; a cut announces the whole length and sends only `sent` bytes; a hang sends nothing at all.
    """

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""
    stream: Callable[[], Iterator[bytes]] | None = None
    behaviour: Behaviour = Behaviour.NORMAL
    pause: timedelta = timedelta(0)
    pieces: int = 1
    sent: int = 0


def respond(world: World, request: LabRequest, moment: datetime) -> LabResponse:
    """What the world answers to the request at `moment`."""
    site = world.sites.get(request.host)
    if site is None:
        shop = world.shops.get(request.host)
        return _text(421, "No such site here.") if shop is None else _shop(world, shop, request, moment)
    faults = world.faults(site.host, moment)
    if any(isinstance(fault, Outage) for fault in faults):
        return LabResponse(status=0, behaviour=Behaviour.REFUSE)
    path, _, query = request.path.partition("?")
    if path == "/robots.txt":
        return _robots(site, faults)
    if path in site.paths:
        return _agenda(world, site, AgendaPage(path, page_number(query)), request, moment)
    if path.startswith(site.tongue.detail):
        return _detail(world, site, path, request, moment)
    return _html(404, templates.notice_page(site, site.tongue.phrases["gone"]))


def _shop(world: World, shop: Shop, request: LabRequest, moment: datetime) -> LabResponse:
    faults = world.faults(shop.host, moment)
    if any(isinstance(fault, Outage) for fault in faults):
        return LabResponse(status=0, behaviour=Behaviour.REFUSE)
    if any(isinstance(fault, TimeOut) for fault in faults):
        return LabResponse(status=0, behaviour=Behaviour.HANG)
    said = shop_answer(shop, request.path.partition("?")[0], faults, moment)
    headers = {"content-type": said.kind, **dict(said.headers)}
    return LabResponse(status=said.status, headers=headers, body=said.page.encode())


def _robots(site: Site, faults: tuple[Fault, ...]) -> LabResponse:
    if any(isinstance(fault, RobotsDown) for fault in faults):
        return _text(503, "Service unavailable")
    lines = ["User-agent: *", "Disallow: /beheer/", "Disallow: /search"]
    if any(isinstance(fault, RobotsChange) for fault in faults):
        lines.append(f"Disallow: {site.tongue.agenda}")
    if site.crawl_delay:
        lines.append(f"Crawl-delay: {site.crawl_delay}")
    return _text(200, "\n".join([*lines, "", "User-agent: GreedyBot", "Disallow: /", ""]))


class AgendaPage(msgspec.Struct, frozen=True):
    """A page of the agenda at `path`; lists that have only one page ignore the number, as sites do."""

    path: str
    number: int = 1


def page_number(query: str) -> int:
    """The number of the page that a query asks for."""
    digits = dict(part.partition("=")[::2] for part in query.split("&")).get("page", "")
    return max(1, int(digits)) if digits.isascii() and digits.isdecimal() else 1


def on_page(site: Site, state: PageState, number: int) -> tuple[ShownEntry, ...]:
    """What the agenda's page of this number should list."""
    if not site.per_page:
        return state.shown
    return state.shown[(number - 1) * site.per_page : number * site.per_page]


def _agenda(world: World, site: Site, place: AgendaPage, request: LabRequest, moment: datetime) -> LabResponse:
    faults = world.faults(site.host, moment)
    for fault in faults:
        instead = _instead(world, site, fault, request)
        if instead is not None:
            return instead
    state = world.page_state(site, place.path, moment)
    body = _agenda_body(world, site, place, state, faults)
    if all(isinstance(fault, RobotsChange | RobotsDown) for fault in faults):
        return _fresh_or_304(world, site, body, _changed_at(site, state), request)
    return _sent_badly(_html(200, body), faults)


def _detail(world: World, site: Site, path: str, request: LabRequest, moment: datetime) -> LabResponse:
    for fault in world.faults(site.host, moment):
        instead = _instead(world, site, fault, request)
        if instead is not None:
            return instead
    number = path.removeprefix(site.tongue.detail).partition("-")[0]
    entry = world.entry(site, int(number)) if number.isascii() and number.isdecimal() else None
    if entry is None or entry.appears > moment or path != site.detail_path(entry):
        return _html(404, templates.notice_page(site, site.tongue.phrases["gone"]))
    if entry.vanishes <= moment:
        return _html(410, templates.notice_page(site, site.tongue.phrases["gone"]))
    shown = ShownEntry(entry, entry.version_at(moment))
    body = templates.detail_page(site, shown, furniture=world.furniture).encode()
    return _fresh_or_304(world, site, body, max(change for change in entry.changes if change <= moment), request)


def _instead(world: World, site: Site, fault: Fault, request: LabRequest) -> LabResponse | None:
    """The answer that a fault gives in place of the page, if it does."""
    answer: LabResponse | None = None
    match fault:
        case Forbidden403():
            answer = _html(403, templates.notice_page(site, "403 Forbidden"))
        case TooMany429(retry_after=seconds):
            answer = _html(429, templates.notice_page(site, "429 Too Many Requests"), {"retry-after": str(seconds)})
        case ServerError500(status=status):
            answer = _html(status, templates.notice_page(site, "Internal error"))
        case TimeOut():
            answer = LabResponse(status=0, behaviour=Behaviour.HANG)
        case HugePage(megabytes=megabytes):
            answer = _huge(world, megabytes, request)
        case BlockPage():
            answer = _html(200, mishaps.block_page(site))
        case ConsentWall():
            answer = _html(200, mishaps.consent_wall(site))
        case _:
            pass
    return answer


def _agenda_body(world: World, site: Site, place: AgendaPage, state: PageState, faults: tuple[Fault, ...]) -> bytes:
    """The page's bytes, remembered per page until its content changes."""
    telling = tuple(fault for fault in faults if not isinstance(fault, RobotsChange | RobotsDown))
    key = (state.key, telling, state.today if depends_on_today(site) else None)
    known = world.bodies.peek((site.host, place))
    if known is not None and known[0] == key:
        return known[1]
    body = _rendered(world, site, place, state, telling)
    world.bodies.put((site.host, place), (key, body))
    return body


def _rendered(world: World, site: Site, place: AgendaPage, state: PageState, faults: tuple[Fault, ...]) -> bytes:
    topic = next(topic for known, topic, _ in site.pages if known == place.path)
    if any(isinstance(fault, BrokenEmpty) for fault in faults):
        return templates.lost_page(site, topic, furniture=world.furniture).encode()
    redesigned = any(isinstance(fault, Redesign) for fault in faults)
    shown = on_page(site, state, place.number)
    for fault in faults:
        if isinstance(fault, TruncatedList) and shown:
            shown = shown[: max(1, int(len(shown) * fault.share))]
    fragments = [
        world.fragments.get(
            (site.host, one.entry.id, one.number, redesigned, nearness(site, one, state.today)),
            partial(fragment, site, one, state.today, redesigned=redesigned),
        )
        for one in shown
    ]
    part = _part(site, place, state, faults)
    html = templates.agenda_page(site, topic, fragments, part, redesigned=redesigned, furniture=world.furniture)
    return _spoilt(html, faults)


def _part(site: Site, place: AgendaPage, state: PageState, faults: tuple[Fault, ...]) -> templates.Part:
    total = len(state.shown)
    if not site.per_page:
        return templates.Part(total)
    cut = any(isinstance(fault, TruncatedPages) and place.number >= fault.after for fault in faults)
    goes_on = place.number * site.per_page < total and not cut
    href = f"{place.path}?page={place.number + 1}" if goes_on else ""
    return templates.Part(total, (place.number - 1) * site.per_page + 1, href)


def _spoilt(html: str, faults: tuple[Fault, ...]) -> bytes:
    """The page's bytes, after what faults do to its text."""
    charset = "utf-8"
    for fault in faults:
        match fault:
            case MalformedHtml():
                html = mishaps.malformed(html)
            case BrokenJsonLd():
                html = mishaps.broken_jsonld(html)
            case WrongCharset(actual=actual):
                charset = actual
            case _:
                pass
    return html.encode(charset, errors="replace")


def _sent_badly(answer: LabResponse, faults: tuple[Fault, ...]) -> LabResponse:
    """The answer, after what faults do to its sending."""
    for fault in faults:
        match fault:
            case SlowDrip(pause=pause, pieces=pieces):
                answer = msgspec.structs.replace(answer, behaviour=Behaviour.DRIP, pause=pause, pieces=pieces)
            case TruncatedBody(share=share):
                sent = int(len(answer.body) * share)
                answer = msgspec.structs.replace(answer, behaviour=Behaviour.CUT, sent=sent)
            case WrongCharset(declared=declared):
                headers = {**answer.headers, "content-type": f"text/html; charset={declared}"}
                answer = msgspec.structs.replace(answer, headers=headers)
            case _:
                pass
    return answer


def _changed_at(site: Site, state: PageState) -> datetime:
    if not depends_on_today(site):
        return state.changed_at
    midnight = datetime.combine(state.today, time(), ZoneInfo(site.time_zone))
    return max(state.changed_at, midnight)


def _fresh_or_304(world: World, site: Site, body: bytes, changed_at: datetime, request: LabRequest) -> LabResponse:
    etag = f'"{xxhash.xxh3_64_hexdigest(body)}"'
    headers = {"etag": etag, "last-modified": format_datetime(changed_at.astimezone(UTC), usegmt=True)}
    if _is_known(request, etag, changed_at):
        return LabResponse(status=304, headers=headers)
    headers["content-type"] = "text/html; charset=utf-8"
    if world.compression and site.compresses and "gzip" in request.headers.get("accept-encoding", ""):
        headers |= {"content-encoding": "gzip", "vary": "Accept-Encoding"}
        body = gzip.compress(body, 6, mtime=0)
    return LabResponse(headers=headers, body=body)


def _is_known(request: LabRequest, etag: str, changed_at: datetime) -> bool:
    """Whether the client already has this; an ETag outweighs a date."""
    tags = request.headers.get("if-none-match")
    if tags is not None:
        return etag in tags
    since = request.headers.get("if-modified-since")
    if since is None:
        return False
    try:
        return changed_at.replace(microsecond=0) <= parsedate_to_datetime(since)
    except (TypeError, ValueError):
        return False


def _huge(world: World, megabytes: int, request: LabRequest) -> LabResponse:
    headers = {"content-type": "text/html; charset=utf-8"}
    if world.compression and "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        return LabResponse(headers=headers, stream=lambda: mishaps.huge_gzip(megabytes))
    return LabResponse(headers=headers, stream=lambda: mishaps.huge_plain(megabytes))


def _html(status: int, page: str | bytes, headers: Mapping[str, str] | None = None) -> LabResponse:
    body = page.encode() if isinstance(page, str) else page
    return LabResponse(
        status=status, headers={"content-type": "text/html; charset=utf-8", **(headers or {})}, body=body
    )


def _text(status: int, text: str) -> LabResponse:
    return LabResponse(status=status, headers={"content-type": "text/plain; charset=utf-8"}, body=text.encode())
