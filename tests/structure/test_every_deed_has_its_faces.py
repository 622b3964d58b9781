"""Everything a person can do stands in `operations` once, and has a route, a command and a form, or a reason for none.

The table is compared with the code both ways; and each face has to lead to the deed: the module of its route, of its
command and of its form calls the method by name.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from integration.web.conftest import deps_of
from rig.clock import SettableClock
from tidemill.bootstrap.system import build
from tidemill.bootstrap.web import web_extensions
from tidemill.cli.app import COMMANDS, load
from tidemill.settings import load_settings
from tidemill.web.app import create_app
from tidemill.web.auth.permissions import plain_path

pytestmark = pytest.mark.shows("A1", "A2", "A3")


class Faces(NamedTuple):
    """Where a deed is done: a route of the API, a command, and a form of the portal; a reason stands in brackets."""

    route: str
    command: str
    form: str


API = "/api/v1"

DEEDS: dict[str, Faces] = {
    "PeopleActions.first_link": Faces("(only who starts the program may make the first admin)", "up", "(as the route)"),
    "PeopleActions.invite": Faces(f"POST {API}/people", "people invite", "POST /people"),
    "PeopleActions.reset": Faces(f"POST {API}/people/{{name}}/reset", "people reset", "POST /people/{name}/reset"),
    "PeopleActions.change_role": Faces(f"PATCH {API}/people/{{name}}", "people role", "POST /people/{name}/role"),
    "PeopleActions.set_disabled": Faces(
        f"PATCH {API}/people/{{name}}", "people disable", "POST /people/{name}/disable"
    ),
    "PeopleActions.remove": Faces(f"DELETE {API}/people/{{name}}", "people remove", "POST /people/{name}/remove"),
    "SignInActions.end": Faces(
        f"DELETE {API}/me/sessions/{{session}}", "(the command line has no session)", "POST /account/sign-out"
    ),
    "TokenActions.make": Faces(f"POST {API}/tokens", "tokens make", "POST /tokens"),
    "TokenActions.revoke": Faces(
        f"DELETE {API}/tokens/{{token_id}}", "tokens revoke", "POST /tokens/{token_id}/revoke"
    ),
    "AdapterActions.enable": Faces(
        f"POST {API}/adapters/{{name}}/enable", "adapters enable", "POST /adapters/{key}/enable"
    ),
    "AdapterActions.bless": Faces(
        f"POST {API}/adapters/{{name}}/bless", "adapters bless", "POST /adapters/{key}/bless"
    ),
    "AdapterActions.disable": Faces(
        f"POST {API}/adapters/{{name}}/disable", "adapters disable", "POST /adapters/{key}/disable"
    ),
    "BreakerActions.reset": Faces(
        f"POST {API}/breakers/{{source}}/reset", "breaker reset", "POST /breakers/{key}/reset"
    ),
    "BreakerActions.reset_all": Faces(f"POST {API}/breakers/reset", "breaker reset", "POST /breakers/reset-all"),
    "BrowserActions.recycle": Faces("POST /api/admin/recycle", "browsers recycle", "POST /system/recycle"),
    "BundleActions.bundle": Faces(
        f"GET {API}/dead-letters/{{dead_letter_id}}/bundle",
        "dlq bundle",
        "(a dead letter's page links to the route, which gives the file)",
    ),
    "DeadLetterActions.retry": Faces(
        f"POST {API}/dead-letters/{{dead_letter_id}}/retry", "dlq retry", "POST /dead-letters/{key}/retry"
    ),
    "DeadLetterActions.retry_all": Faces(f"POST {API}/dead-letters/retry", "dlq retry", "POST /dead-letters/retry-all"),
    "DeadLetterActions.discard": Faces(
        f"POST {API}/dead-letters/{{dead_letter_id}}/discard", "dlq discard", "POST /dead-letters/{key}/discard"
    ),
    "DeadLetterActions.discard_all": Faces(
        f"POST {API}/dead-letters/discard", "dlq discard", "POST /dead-letters/discard-all"
    ),
    "DiscoveryActions.approve": Faces(
        f"POST {API}/candidates/{{candidate_id}}/approve", "candidates approve", "POST /candidates/{key}/approve"
    ),
    "DiscoveryActions.reject": Faces(
        f"POST {API}/candidates/{{candidate_id}}/reject", "candidates reject", "POST /candidates/{key}/reject"
    ),
    "Exporter.start": Faces(
        f"GET {API}/exports/events", "export", "(the page of exports is a form that leads to the route)"
    ),
    "FeedActions.refresh": Faces(
        "(a program runs the tick `feeds`, which reads all of them)", "targets feeds", "(the tick `feeds` has a form)"
    ),
    "Importer.sources_file": Faces(f"POST {API}/sources/import", "sources import", "POST /import-sources"),
    "Importer.source_entries": Faces(
        f"PATCH {API}/sources/{{name}}", "(a sources file holds entries)", "POST /add-source"
    ),
    "Importer.targets_file": Faces(f"POST {API}/targets/import", "targets import", "POST /import-targets"),
    "IncidentActions.acknowledge": Faces(
        f"POST {API}/incidents/{{incident_id}}/acknowledge",
        "incidents ack",
        "POST /incidents/{key}/acknowledge",
    ),
    "IncidentActions.snooze": Faces(
        f"POST {API}/incidents/{{incident_id}}/snooze", "incidents snooze", "POST /incidents/{key}/snooze"
    ),
    "IncidentActions.comment": Faces(
        f"POST {API}/incidents/{{incident_id}}/comment", "incidents comment", "POST /incidents/{key}/comment"
    ),
    "IncidentActions.close": Faces(
        f"POST {API}/incidents/{{incident_id}}/close", "incidents close", "POST /incidents/{key}/close"
    ),
    "IncidentActions.test": Faces(f"POST {API}/alerts/test", "alerts test", "POST /incidents/send-test"),
    "SelectorActions.save": Faces(
        "(what is chosen is an element of a page that is looked at; by hand it is PATCH of a source)",
        "(as the route: `tidemill sources import`)",
        "POST /pages/{page_id}/pick",
    ),
    "SelectorActions.propose": Faces("(as saving)", "(as saving)", "POST /pages/{page_id}/pick"),
    "ProposalActions.accept": Faces(
        f"POST {API}/proposals/{{proposal_id}}/accept", "proposals accept", "POST /proposals/{key}/accept"
    ),
    "ProposalActions.reject": Faces(
        f"POST {API}/proposals/{{proposal_id}}/reject", "proposals reject", "POST /proposals/{key}/reject"
    ),
    "QuarantineActions.release": Faces(
        f"POST {API}/quarantine/{{record_id}}/release", "quarantine release", "POST /quarantine/{key}/release"
    ),
    "QuarantineActions.reject": Faces(
        f"POST {API}/quarantine/{{record_id}}/reject", "quarantine reject", "POST /quarantine/{key}/reject"
    ),
    "QuarantineActions.release_all": Faces(
        f"POST {API}/quarantine/release", "quarantine release", "POST /quarantine/release-all"
    ),
    "QuarantineActions.reject_all": Faces(
        f"POST {API}/quarantine/reject", "quarantine reject", "POST /quarantine/reject-all"
    ),
    "RunActions.start_source": Faces(f"POST {API}/sources/{{name}}/run", "sources run", "POST /sources/{name}/run"),
    "RunActions.start_all": Faces(
        "(a program starts each by itself, and is told of each)", "(as the route)", "POST /sources/bulk"
    ),
    "RunActions.start_target": Faces(f"POST {API}/targets/{{target_id}}/run", "targets run", "POST /targets/{key}/run"),
    "RunActions.requeue_stale": Faces(
        f"POST {API}/jobs/requeue-stale", "runs requeue-stale", "POST /dead-letters/requeue-stale"
    ),
    "SourceActions.enable": Faces(
        f"POST {API}/sources/{{name}}/enable", "sources enable", "POST /sources/{name}/enable"
    ),
    "SourceActions.disable": Faces(
        f"POST {API}/sources/{{name}}/disable", "sources disable", "POST /sources/{name}/disable"
    ),
    "SourceActions.switch_all": Faces("(a program switches each by itself)", "(as the route)", "POST /sources/bulk"),
    "SourceActions.tag_all": Faces(
        "(a program writes `tags` by PATCH of a source)", "(tags stand in a sources file)", "POST /sources/bulk"
    ),
    "SourceActions.add": Faces(f"POST {API}/sources", "sources add", "(the form brings in an entry: source_entries)"),
    "SourceActions.remove": Faces(f"DELETE {API}/sources/{{name}}", "sources remove", "POST /sources/{name}/remove"),
    "TargetActions.add": Faces(f"POST {API}/targets", "targets add", "POST /sources/{name}/targets"),
    "TargetActions.reschedule": Faces("(PATCH changes schedule and priority)", "targets schedule", "(as PATCH)"),
    "TargetActions.change": Faces(
        f"PATCH {API}/targets/{{target_id}}",
        "(`targets schedule`; a priority stands in a targets file)",
        "POST /sources/{name}/targets/{target_id}",
    ),
    "TargetActions.pause": Faces(
        f"POST {API}/targets/{{target_id}}/pause", "targets pause", "POST /targets/{key}/pause"
    ),
    "TargetActions.resume": Faces(
        f"POST {API}/targets/{{target_id}}/resume", "targets resume", "POST /targets/{key}/resume"
    ),
    "TargetActions.remove": Faces(
        f"DELETE {API}/targets/{{target_id}}", "targets remove", "POST /targets/{key}/remove"
    ),
    "UpgradeActions.accept": Faces(
        f"POST {API}/upgrades/{{name}}/accept", "sources accept-upgrade", "POST /sources/{name}/accept-upgrade"
    ),
    "UpgradeActions.dismiss": Faces(
        f"POST {API}/upgrades/{{name}}/dismiss", "sources dismiss-upgrade", "POST /sources/{name}/dismiss-upgrade"
    ),
    "WebhookActions.subscribe": Faces(f"POST {API}/webhooks", "webhooks add", "POST /webhooks"),
    "WebhookActions.unsubscribe": Faces(
        f"DELETE {API}/webhooks/{{name}}", "webhooks remove", "POST /webhooks/{name}/remove"
    ),
    "WebhookActions.switch": Faces(
        f"POST {API}/webhooks/{{name}}/enable", "webhooks resume", "POST /webhooks/{name}/switch"
    ),
    "WebhookActions.rotate": Faces(
        f"POST {API}/webhooks/{{name}}/rotate", "webhooks rotate", "POST /webhooks/{name}/rotate"
    ),
    "WebhookActions.test": Faces(f"POST {API}/webhooks/{{name}}/test", "webhooks test", "POST /webhooks/{name}/test"),
    "WebhookActions.replay": Faces(
        f"POST {API}/webhooks/deliveries/{{delivery_id}}/replay",
        "webhooks replay",
        "POST /webhooks/deliveries/{delivery_id}/replay",
    ),
    "WebhookActions.replay_since": Faces(
        f"POST {API}/webhooks/{{name}}/replay", "webhooks replay", "POST /webhooks/{name}/replay"
    ),
    "WebhookActions.retry": Faces(
        f"POST {API}/webhooks/deliveries/retry", "webhooks retry", "POST /webhooks/deliveries/retry"
    ),
    "ReplayActions.start": Faces(f"POST {API}/replays", "replay", "(what is replayed is a question of an engineer)"),
    "ReplayActions.accept": Faces(
        f"POST {API}/replays/{{replay_id}}/accept", "replays accept", "POST /replays/{key}/accept"
    ),
    "ReplayActions.refuse": Faces(
        f"POST {API}/replays/{{replay_id}}/refuse", "replays refuse", "POST /replays/{key}/refuse"
    ),
    "ReplayActions.apply": Faces(f"POST {API}/replays/{{replay_id}}/apply", "replay", "POST /replays/{key}/apply"),
    "ReplayActions.revert": Faces(
        f"POST {API}/replays/{{replay_id}}/revert", "replays revert", "POST /replays/{key}/revert"
    ),
    "ReplayActions.roll_back": Faces(
        f"POST {API}/sources/{{name}}/roll-back", "replays rollback", "POST /sources/{name}/roll-back"
    ),
    "MarketActions.add": Faces("POST /api/admin/markets", "markets add", "POST /markets"),
    "MarketActions.change": Faces(
        "PUT /api/admin/markets/{market_id}", "markets change", "POST /markets/{market_id}/change"
    ),
    "MarketActions.scrape": Faces(
        "POST /api/admin/markets/{market_id}/scrape", "markets run", "POST /markets/{market_id}/scrape"
    ),
    "MarketActions.remove": Faces(
        "DELETE /api/admin/markets/{market_id}", "markets remove", "POST /markets/{market_id}/remove"
    ),
    "MatchActions.pause": Faces(f"POST {API}/matches/{{key}}/pause", "matches pause", "POST /matches/{key}/switch"),
    "MatchActions.resume": Faces(f"POST {API}/matches/{{key}}/resume", "matches resume", "POST /matches/{key}/switch"),
    "MatchActions.settle": Faces(f"POST {API}/match-ids/settle", "matches map", "POST /matches/settle"),
    "CorrectionActions.correct": Faces(
        f"POST {API}/prices/{{price_id}}/correct",
        "corrections correct",
        "POST /products/{product_id}/prices/{price_id}/{deed}",
    ),
    "CorrectionActions.ignore": Faces(
        f"POST {API}/prices/{{price_id}}/ignore",
        "corrections ignore",
        "POST /products/{product_id}/prices/{price_id}/{deed}",
    ),
    "CorrectionActions.revoke": Faces(
        f"POST {API}/prices/{{price_id}}/revoke",
        "corrections revoke",
        "POST /products/{product_id}/prices/{price_id}/{deed}",
    ),
    "CorrectionActions.ignore_run": Faces(
        f"POST {API}/prices/runs/{{run_id}}/ignore", "corrections ignore", "POST /price-review/ignore-run"
    ),
    "LinkActions.link": Faces(
        f"POST {API}/offers/{{offer_id}}/link/{{product_id}}", "prices link", "POST /price-review/{offer_id}/link"
    ),
    "LinkActions.unlink": Faces(
        f"POST {API}/offers/{{offer_id}}/unlink", "prices unlink", "POST /price-review/{offer_id}/unlink"
    ),
    "LinkActions.new_product": Faces(
        f"POST {API}/offers/{{offer_id}}/product", "prices new-product", "POST /price-review/{offer_id}/product"
    ),
}
INSIDE = {"ReplayApplier.apply", "ReplayApplier.revert", "ReplayActions.check"}
"""Parts of other deeds, which have the faces."""


def deeds_in(root: Path) -> set[str]:
    """Every public coroutine of a class that is told who acts."""
    files = [*(root / "operations").rglob("*.py"), *(root / "verticals").glob("*/*.py")]
    return {name for file in files for name in _deeds(ast.parse(file.read_text()))}


def _deeds(tree: ast.Module) -> Iterator[str]:
    for owner in (each for each in tree.body if isinstance(each, ast.ClassDef)):
        for method in owner.body:
            if isinstance(method, ast.AsyncFunctionDef) and not method.name.startswith("_"):
                told = {each.arg for each in (*method.args.args, *method.args.kwonlyargs)}
                if told & {"actor", "by"}:
                    yield f"{owner.name}.{method.name}"


def commands() -> dict[str, Any]:
    """Every command by what is typed, with its function."""
    found: dict[str, Any] = {}

    for name in COMMANDS:
        command: Any = load(name)
        for below, inner in getattr(command, "commands", {}).items():
            found[f"{name} {below}"] = inner.callback
        found[name] = command.callback
    return found


def calls(function: Any, method: str) -> bool:
    """Whether the module of a function, or one that it imports from, calls a method of this name."""
    source = inspect.getsource(inspect.getmodule(inspect.unwrap(function)))  # type: ignore[arg-type]
    return re.search(rf"\.{method}\b", source) is not None


@pytest.fixture
def routes(sqlite_url: str, clock: SettableClock) -> dict[str, Any]:
    """Every route of the whole app as `METHOD /path`, with its function."""
    system = build(load_settings(database=sqlite_url), clock=clock)
    deps = deps_of(system)
    app = create_app(deps, web_extensions(system, deps))
    return dict(_endpoints(app.routes))


def _endpoints(routes: Any) -> Iterator[tuple[str, Any]]:
    for route in routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from _endpoints(inner.routes)
        for method in getattr(route, "methods", None) or ():
            yield f"{method} {plain_path(route.path)}", route.endpoint


def test_the_table_names_every_deed_and_no_other(project_root: Path) -> None:
    found = deeds_in(project_root / "src" / "tidemill") - INSIDE
    assert sorted(found - DEEDS.keys()) == []
    assert sorted(DEEDS.keys() - found) == []


def test_every_deed_has_a_route_a_form_and_a_command_that_do_it(routes: dict[str, Any]) -> None:
    typed = commands()
    wrong = []
    for deed, faces in DEEDS.items():
        method = deed.partition(".")[2]
        for face, known in ((faces.route, routes), (faces.form, routes), (faces.command, typed)):
            if face.startswith("("):
                continue
            if face not in known:
                wrong.append(f"{deed}: there is no {face}")
            elif not does(known[face], method):
                wrong.append(f"{deed}: {face} does not call .{method}(")
    assert wrong == []


def does(function: Any, method: str) -> bool:
    """Whether a face does a deed: its module calls it, or the page of the list that the form belongs to does."""
    if calls(function, method):
        return True
    closed = inspect.getclosurevars(function).nonlocals
    action = closed.get("action") or closed.get("bulk")
    return action is not None and calls(action.do, method)
