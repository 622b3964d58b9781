"""A site's answer to a request: a pure function of the content, the request and the moment."""

import gzip
from datetime import UTC, datetime, time
from email.utils import format_datetime, parsedate_to_datetime
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
from tidemill.lab.messages import HANGING, Behaviour, LabRequest, LabResponse, html, text
from tidemill.verticals.events.lab import fault_pages, templates
from tidemill.verticals.events.lab.content import AgendaContent, PageState, ShownEntry
from tidemill.verticals.events.lab.makes import depends_on_today, fragment, nearness
from tidemill.verticals.events.lab.sites import Site


def answer(content: AgendaContent, request: LabRequest, faults: tuple[Fault, ...], moment: datetime) -> LabResponse:
    """Answer a request to a site under these faults."""
    site = content.sites[request.host]
    path, _, query = request.path.partition("?")
    if path == "/robots.txt":
        return _robots(site, faults)
    if path in site.paths:
        return _agenda(content, site, AgendaPage(path, page_number(query)), request, faults, moment)
    if path.startswith(site.vocabulary.detail):
        return _detail(content, site, request, faults, moment)
    return html(404, templates.notice_page(site, site.vocabulary.phrases["gone"]))


def _robots(site: Site, faults: tuple[Fault, ...]) -> LabResponse:
    if any(isinstance(fault, RobotsDown) for fault in faults):
        return text(503, "Service unavailable")
    lines = ["User-agent: *", "Disallow: /beheer/", "Disallow: /search"]
    if any(isinstance(fault, RobotsChange) for fault in faults):
        lines.append(f"Disallow: {site.vocabulary.agenda}")
    if site.crawl_delay:
        lines.append(f"Crawl-delay: {site.crawl_delay}")
    return text(200, "\n".join([*lines, "", "User-agent: GreedyBot", "Disallow: /", ""]))


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


def _agenda(
    content: AgendaContent,
    site: Site,
    place: AgendaPage,
    request: LabRequest,
    faults: tuple[Fault, ...],
    moment: datetime,
) -> LabResponse:
    if (instead := _instead_of_page(content, site, faults, request)) is not None:
        return instead
    state = content.page_state(site, place.path, moment, faults)
    body = _agenda_body(content, site, place, state, faults)
    if all(isinstance(fault, RobotsChange | RobotsDown) for fault in faults):
        return _fresh_or_304(content, site, body, _changed_at(site, state), request)
    return _sent_badly(html(200, body), faults)


def _detail(
    content: AgendaContent, site: Site, request: LabRequest, faults: tuple[Fault, ...], moment: datetime
) -> LabResponse:
    if (instead := _instead_of_page(content, site, faults, request)) is not None:
        return instead
    path = request.path.partition("?")[0]
    number = path.removeprefix(site.vocabulary.detail).partition("-")[0]
    entry = content.entry(site, int(number)) if number.isascii() and number.isdecimal() else None
    if entry is None or entry.appears > moment or path != site.detail_path(entry):
        return html(404, templates.notice_page(site, site.vocabulary.phrases["gone"]))
    if entry.vanishes <= moment:
        return html(410, templates.notice_page(site, site.vocabulary.phrases["gone"]))
    shown = ShownEntry(entry, entry.version_at(moment))
    body = templates.detail_page(site, shown, boilerplate=content.terms.boilerplate).encode()
    return _fresh_or_304(content, site, body, max(change for change in entry.changes if change <= moment), request)


def _instead_of_page(
    content: AgendaContent, site: Site, faults: tuple[Fault, ...], request: LabRequest
) -> LabResponse | None:
    """Return the answer of the first fault that gives one in place of the page."""
    answers = (_instead(content, site, fault, request) for fault in faults)
    return next((each for each in answers if each is not None), None)


def _instead(content: AgendaContent, site: Site, fault: Fault, request: LabRequest) -> LabResponse | None:
    """Return what this fault answers in place of the page, if anything."""
    answer: LabResponse | None = None
    match fault:
        case Forbidden403():
            answer = html(403, templates.notice_page(site, "403 Forbidden"))
        case TooMany429(retry_after=seconds):
            answer = html(429, templates.notice_page(site, "429 Too Many Requests"), {"retry-after": str(seconds)})
        case ServerError500(status=status):
            answer = html(status, templates.notice_page(site, "Internal error"))
        case TimeOut():
            answer = HANGING
        case HugePage(megabytes=megabytes):
            answer = _huge(content, megabytes, request)
        case BlockPage():
            answer = html(200, fault_pages.block_page(site))
        case ConsentWall():
            answer = html(200, fault_pages.consent_wall(site))
        case _:
            pass
    return answer


def _agenda_body(
    content: AgendaContent, site: Site, place: AgendaPage, state: PageState, faults: tuple[Fault, ...]
) -> bytes:
    """The page's bytes, remembered per page until its content changes."""
    telling = tuple(fault for fault in faults if not isinstance(fault, RobotsChange | RobotsDown))
    key = (state.key, telling, state.today if depends_on_today(site) else None)
    known = content.bodies.peek((site.host, place))
    if known is not None and known[0] == key:
        return known[1]
    body = _rendered(content, site, place, state, telling)
    content.bodies.put((site.host, place), (key, body))
    return body


def _rendered(
    content: AgendaContent, site: Site, place: AgendaPage, state: PageState, faults: tuple[Fault, ...]
) -> bytes:
    topic = next(topic for known, topic, _ in site.pages if known == place.path)
    if any(isinstance(fault, BrokenEmpty) for fault in faults):
        return templates.lost_page(site, topic, boilerplate=content.terms.boilerplate).encode()
    redesigned = any(isinstance(fault, Redesign) for fault in faults)
    shown = on_page(site, state, place.number)
    for fault in faults:
        if isinstance(fault, TruncatedList) and shown:
            shown = shown[: max(1, int(len(shown) * fault.share))]
    fragments = [
        content.fragments.get(
            (site.host, one.entry.id, one.number, redesigned, nearness(site, one, state.today)),
            partial(fragment, site, one, state.today, redesigned=redesigned),
        )
        for one in shown
    ]
    part = _part(site, place, state, faults)
    page = templates.agenda_page(
        site, topic, fragments, part, redesigned=redesigned, boilerplate=content.terms.boilerplate
    )
    return _spoilt(page, faults)


def _part(site: Site, place: AgendaPage, state: PageState, faults: tuple[Fault, ...]) -> templates.Part:
    total = len(state.shown)
    if not site.per_page:
        return templates.Part(total)
    cut = any(isinstance(fault, TruncatedPages) and place.number >= fault.after for fault in faults)
    goes_on = place.number * site.per_page < total and not cut
    href = f"{place.path}?page={place.number + 1}" if goes_on else ""
    return templates.Part(total, (place.number - 1) * site.per_page + 1, href)


def _spoilt(page: str, faults: tuple[Fault, ...]) -> bytes:
    """The page's bytes, after what faults do to its text."""
    charset = "utf-8"
    for fault in faults:
        match fault:
            case MalformedHtml():
                page = fault_pages.malformed(page)
            case BrokenJsonLd():
                page = fault_pages.broken_jsonld(page)
            case WrongCharset(actual=actual):
                charset = actual
            case _:
                pass
    return page.encode(charset, errors="replace")


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


def _fresh_or_304(
    content: AgendaContent, site: Site, body: bytes, changed_at: datetime, request: LabRequest
) -> LabResponse:
    etag = f'"{xxhash.xxh3_64_hexdigest(body)}"'
    headers = {"etag": etag, "last-modified": format_datetime(changed_at.astimezone(UTC), usegmt=True)}
    if _is_known(request, etag, changed_at):
        return LabResponse(status=304, headers=headers)
    headers["content-type"] = "text/html; charset=utf-8"
    if content.terms.compression and site.compresses and "gzip" in request.headers.get("accept-encoding", ""):
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


def _huge(content: AgendaContent, megabytes: int, request: LabRequest) -> LabResponse:
    headers = {"content-type": "text/html; charset=utf-8"}
    if content.terms.compression and "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        return LabResponse(headers=headers, stream=lambda: fault_pages.huge_gzip(megabytes))
    return LabResponse(headers=headers, stream=lambda: fault_pages.huge_plain(megabytes))
