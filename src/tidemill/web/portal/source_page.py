"""The page of one source: what it does, what can be done about it, its targets, pages, runs and history."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter, Form
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from tidemill.core.views import DeadLetterFilter, RunView, SourceDetail, TargetFilter
from tidemill.operations.mistakes import Mistake
from tidemill.web import lookup
from tidemill.web.api.parameters import Key, Name, Word
from tidemill.web.auth.gate import ActorName
from tidemill.web.charts.drawing import ChartBar, ChartLine, bar_chart, line_chart
from tidemill.web.deps import WebDeps
from tidemill.web.extension import PortalExtension, RenderPage
from tidemill.web.portal.filters import colour, source_link
from tidemill.web.portal.sources import records_path

TARGETS_SHOWN, PAGES_SHOWN, LETTERS_SHOWN, RUNS_CHARTED, AUDIT_SHOWN, DAYS_CHARTED = 50, 10, 5, 40, 12, 30
SEE_OTHER, UNPROCESSABLE = 303, 422
ShortText = Annotated[str, Form(max_length=1_000)]


class SourceDeed(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can be done now: the button, and what pressing it would do.

    `warning` is set where it has to be asked first; `asks` are texts that the form asks for, by name.
    """

    path: str
    label: str
    effect: str
    is_grave: bool = False
    asks: Sequence[tuple[str, str]] = ()


def add_source_page(
    router: APIRouter, deps: WebDeps, render: RenderPage, portals: Mapping[str, PortalExtension]
) -> None:
    """Add the page of a source and its forms; `portals` are the pages of verticals by name."""
    _targets(router, deps)
    _source(router, deps)

    async def show(name: str, status: int = 200, wrong: str = "", done: str = "") -> Response:
        detail = await lookup.source(deps, name)
        view, now = detail.view, deps.clock.now()
        targets = await deps.views.targets(TargetFilter(source_id=view.id), limit=TARGETS_SHOWN + 1)
        letters = await deps.views.dead_letters(
            DeadLetterFilter(source_id=view.id, status="pending"), limit=LETTERS_SHOWN
        )
        runs = await deps.views.runs(view.id, limit=RUNS_CHARTED)
        incidents = [
            each for each in await deps.incidents.every(open_only=False, limit=200) if each.source_name == view.name
        ]
        daily = await deps.views.records_by_day(view.id, now, DAYS_CHARTED)
        days = [now - timedelta(days=DAYS_CHARTED - 1 - number) for number in range(DAYS_CHARTED)]
        return render(
            "source.html", status, detail=detail, why=await deps.why(f"source:{view.name}"), wrong=wrong, done=done,
            records_path=records_path(view, portals), targets=targets[:TARGETS_SHOWN],
            more_targets=len(targets) > TARGETS_SHOWN, letters=letters, incidents=incidents[:20],
            pages=await deps.views.pages(source_id=view.id, limit=PAGES_SHOWN), runs=runs[:10],
            runs_chart=runs_chart(runs),
            records_chart=line_chart(
                [ChartLine("records", list(zip(days, daily, strict=True)))], "Records a day", from_zero=True
            ) if any(daily) else Markup(),
            audit=await deps.audit.latest(AUDIT_SHOWN, subject=f"source {view.name}"), deeds=deeds_of(detail),
        )  # fmt: skip

    @router.get("/sources/{name:path}")
    async def source(name: Name, done: Word = None) -> Response:
        return await show(name, done=(done or "")[:280])


def deeds_of(detail: SourceDetail) -> list[SourceDeed]:
    """Return what can be done with a source as it stands, each with what it would do."""
    view, base = detail.view, source_link(detail.view.name)
    is_on = view.enabled and not view.auto_disabled
    deeds = []
    if is_on and view.targets_on:
        effect = f"{_targets_word(view.targets_on)} fetched now, at the pace of the host; the schedule stays."
        deeds.append(SourceDeed(path=f"{base}/run", label="Scrape now", effect=effect))
    if detail.breaker is not None and detail.breaker.state != "CLOSED":
        effect = "The site is asked again at once, instead of after its pause."
        deeds.append(SourceDeed(path=f"{base}/reset-breaker", label="Close the breaker", effect=effect))
    if waiting := detail.letters.get("pending", 0):
        effect = f"{_jobs_word(waiting)} on at the stage where it failed; what went well before is not done again."
        deeds.append(SourceDeed(path=f"{base}/retry-letters", label="Try dead letters again", effect=effect))
    if detail.upgrade is not None and detail.upgrade.status == "pending":
        effect = f"Its pages are fetched with {detail.upgrade.fetcher} from now on, which {detail.upgrade.reason}."
        deeds.append(SourceDeed(path=f"{base}/accept-upgrade", label=f"Use {detail.upgrade.fetcher}", effect=effect))
        deeds.append(
            SourceDeed(path=f"{base}/dismiss-upgrade", label="Stay as it is", effect="The suggestion is put away.")
        )
    if detail.source.adapter_settings.get("selectors"):
        effect = "Its selectors are those from before their last change; its stored pages are read again by them first."
        deeds.append(SourceDeed(path=f"{base}/roll-back", label="Back to the old selectors", effect=effect))
    if is_on:
        effect = (
            f"Nothing is asked of the site (targets: {view.targets}) until it is on again. You can undo it at any time."
        )
        deeds.append(
            SourceDeed(
                path=f"{base}/disable", label="Switch off", effect=effect, is_grave=True, asks=[("reason", "Why")]
            )
        )
    else:
        effect = "It is scraped by its schedule again; its breaker, failures and drift are forgotten."
        deeds.append(SourceDeed(path=f"{base}/enable", label="Switch on", effect=effect))
    effect = (
        f"The source, its targets ({view.targets}) and its runs are removed; pages and published records stay. "
        "This cannot be undone: type its name."
    )
    deeds.append(
        SourceDeed(path=f"{base}/remove", label="Remove", effect=effect, is_grave=True, asks=[("typed", "Its name")])
    )
    return deeds


def _jobs_word(count: int) -> str:
    return "The job that failed for good goes" if count == 1 else f"Each of the {count} jobs that failed for good goes"


def _targets_word(count: int) -> str:
    return "Its target is" if count == 1 else f"Its {count} targets are"


def runs_chart(runs: Sequence[RunView]) -> Markup:
    """Return the latest runs as bars, oldest first: how long each took, coloured by how it ended."""
    bars = [
        ChartBar(f"{run.started_at:%d %b}", float(run.urls_attempted), colour(run.status)) for run in reversed(runs)
    ]
    return bar_chart(bars, "Pages a run", unit="pages") if any(bar.value for bar in bars) else Markup()


def _targets(router: APIRouter, deps: WebDeps) -> None:
    @router.post("/sources/{name}/targets/{target_id}")
    async def change(
        name: Name, target_id: Key, by: ActorName, schedule: ShortText = "", priority: ShortText = ""
    ) -> Response:
        changed = await deps.targets.change(
            str(target_id), by, schedule=schedule.strip() or None, priority=_whole(priority)
        )
        return _back(
            name, f"{changed.url} is scraped {changed.schedule or 'by its source'}, priority {changed.priority}."
        )

    @router.post("/sources/{name}/targets")
    async def add(name: Name, by: ActorName, url: ShortText, schedule: ShortText = "") -> Response:
        options = {"schedule": schedule.strip()} if schedule.strip() else {}
        made = await deps.targets.add(name, url, by, options)
        return _back(name, f"{made.url} is a target of it now, and due at once.")


def _source(router: APIRouter, deps: WebDeps) -> None:
    @router.post("/sources/{name}/reset-breaker")
    async def reset(name: Name, by: ActorName) -> Response:
        done = await deps.breakers.reset(name, by)
        return _back(name, f"Its breaker was {done.was.lower()} and is closed.")

    @router.post("/sources/{name}/retry-letters")
    async def retry(name: Name, by: ActorName) -> Response:
        key = await lookup.source_id(deps, name)
        done = await deps.dead_letters.retry_all(DeadLetterFilter(source_id=key), by)
        words = "1 dead letter is" if done.count == 1 else f"{done.count} dead letters are"
        return _back(name, f"{words} being tried again.")

    @router.post("/sources/{name}/accept-upgrade")
    async def accept(name: Name, by: ActorName) -> Response:
        await deps.upgrades.accept(name, by)
        return _back(name, "Its pages are fetched the suggested way from now on.")

    @router.post("/sources/{name}/dismiss-upgrade")
    async def dismiss(name: Name, by: ActorName) -> Response:
        await deps.upgrades.dismiss(name, by)
        return _back(name, "It stays as it is.")

    @router.post("/sources/{name}/roll-back")
    async def roll_back(name: Name, by: ActorName) -> Response:
        done = await deps.replays.roll_back(name, by)
        return RedirectResponse(f"/replays/{done.replay.id}", SEE_OTHER)

    @router.post("/sources/{name}/approve-terms")
    async def approve(name: Name, by: ActorName) -> Response:
        found = await lookup.source(deps, name)
        terms = {"reviewed_at": deps.clock.now().isoformat(), "approved_by": by}
        await _written(deps, {"name": found.view.name, "tos": terms}, by)
        return _back(name, f"{by} approved its terms.")

    @router.post("/sources/{name}/tags")
    async def tag(name: Name, by: ActorName, tags: ShortText = "") -> Response:
        found = await lookup.source(deps, name)
        await _written(deps, {"name": found.view.name, "tags": tags.lower().replace(",", " ").split()}, by)
        return _back(name, "Its tags are changed.")

    @router.post("/sources/{name}/remove")
    async def remove(name: Name, by: ActorName, typed: ShortText = "") -> Response:
        if typed.strip() != name:
            msg = f"type {name!r} to remove it; {typed[:80]!r} is something else, so nothing was removed"
            raise Mistake(msg)
        removed = await deps.sources.remove(name, by)
        return RedirectResponse(f"/sources?{urlencode({'done': f'{removed.name} is removed.'})}", SEE_OTHER)


async def _written(deps: WebDeps, entry: Mapping[str, object], by: str) -> None:
    done = await deps.importer.source_entries([entry], by)
    if done.problems:
        raise Mistake("; ".join(f"{each.field}: {each.message}" for each in done.problems))


def _whole(text: str) -> int | None:
    if not text.strip():
        return None
    try:
        return int(text)
    except ValueError as error:
        msg = "the priority is a whole number, such as 0 or 10"
        raise Mistake(msg) from error


def _back(name: str, words: str) -> Response:
    return RedirectResponse(f"{source_link(name)}?{urlencode({'done': words[:280]})}", SEE_OTHER)
