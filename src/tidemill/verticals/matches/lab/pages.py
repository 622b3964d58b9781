"""What the three sites answer, each in its own make: a JSON feed, state in a script, a board that a script draws."""

from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Any

import msgspec

from tidemill.verticals.matches.lab.view import MatchView
from tidemill.verticals.matches.record import BreakKind, InningsScore, MatchStatus, overs_of

_BREAK_WORDS = {
    BreakKind.INNINGS: "Innings Break", BreakKind.LUNCH: "Lunch", BreakKind.TEA: "Tea", BreakKind.DRINKS: "Drinks",
    BreakKind.STUMPS: "Stumps", BreakKind.RAIN: "Rain delay", BreakKind.OTHER: "Delayed",
}  # fmt: skip
_STATES = {
    MatchStatus.UPCOMING: "Preview", MatchStatus.LIVE: "In Progress", MatchStatus.COMPLETED: "Complete",
    MatchStatus.ABANDONED: "Abandoned",
}  # fmt: skip


def feed_match(view: MatchView, *, brief: bool = False) -> dict[str, Any]:
    """Return a match as the JSON feed tells it."""
    played = view.match.played
    shown: dict[str, Any] = {
        "id": view.site_id,
        "name": played.title,
        "state": "finished" if view.says_finished else view.status.value,
        "break": view.pause.value if view.pause else None,
        "teams": [{"name": name, "abbr": short} for name, short in played.teams],
        "innings": [
            {
                "team": played.teams[each.side][0], "runs": each.runs, "wickets": each.wickets,
                "overs": overs_of(each.balls), "declared": each.is_declared, "followOn": each.is_follow_on,
                "superOver": each.is_super_over, "target": each.target,
            }
            for each in view.innings
        ],
        "startTime": view.match.starts_at.isoformat(),
        "series": played.series,
        "format": played.match_type,
        "maxOvers": played.overs,
        "url": f"/v1/matches/{view.site_id}.json",
    }  # fmt: skip
    if not brief:
        shown |= {
            "venue": played.venue,
            "toss": {"winner": played.toss[0], "decision": played.toss[1]},
            "players": dict(played.players),
            "recent": [
                {"innings": ball.innings, "over": ball.over, "ball": ball.ball, "runs": ball.runs,
                 "extra": ball.extra, "wicket": ball.wicket, "comment": ball.text}
                for ball in view.balls
            ],
            "result": dict(played.result) if view.has_result else None,
        }  # fmt: skip
    return _without(shown, view, innings="innings", balls="recent", venue="venue")


def script_match(view: MatchView, *, brief: bool = False) -> dict[str, Any]:
    """Return a match as the state in a page's script."""
    played = view.match.played
    one, two = played.teams
    state = "Finished" if view.says_finished else _STATES[view.status]
    info: dict[str, Any] = {
        "matchId": view.site_id,
        "matchDesc": played.title,
        "state": _BREAK_WORDS[view.pause] if view.pause else state,
        "team1": {"teamName": one[0], "teamSName": one[1]},
        "team2": {"teamName": two[0], "teamSName": two[1]},
        "venueInfo": {"ground": played.venue},
        "seriesName": played.series,
        "matchFormat": played.match_type,
        "maxOvers": played.overs,
        "startDate": str(int(view.match.starts_at.timestamp() * 1000)),
        "matchUrl": f"/live/{view.site_id}",
    }
    if view.has_result:
        info["result"] = dict(played.result)
    shown: dict[str, Any] = {
        "matchInfo": info,
        "matchScore": {"innings": [_script_innings(each, view) for each in view.innings]},
    }
    if not brief:
        info["tossResults"] = {"tossWinnerName": played.toss[0], "decision": played.toss[1]}
        shown["overs"] = [
            {
                "innings": place[0], "over": place[1],
                "deliveries": [
                    {"runs": ball.runs, "extras": {ball.extra: ball.runs} if ball.extra else None,
                     "wicket": {"kind": ball.wicket} if ball.wicket else None, "commentary": ball.text}
                    for ball in balls
                ],
            }
            for place, balls in _whole_overs(view)
        ]  # fmt: skip
    if "venue" in view.missing:
        del info["venueInfo"]
    return _without(shown, view, innings="matchScore", balls="overs")


def _script_innings(each: InningsScore, view: MatchView) -> dict[str, Any]:
    short = view.match.played.teams[each.side][1]
    return {
        "batTeamSName": short, "runs": each.runs, "wickets": each.wickets, "overs": overs_of(each.balls),
        "isDeclared": each.is_declared, "isFollowOn": each.is_follow_on, "isSuperOver": each.is_super_over,
        "target": each.target,
    }  # fmt: skip


def _whole_overs(view: MatchView) -> list[tuple[tuple[int, int], list[Any]]]:
    """The overs of which every delivery is shown: numbers count from the first."""
    grouped = [(place, list(balls)) for place, balls in groupby(view.balls, key=lambda ball: (ball.innings, ball.over))]
    return [(place, balls) for place, balls in grouped if balls[0].ball == 1]


def script_page(data: Any, title: str) -> str:
    """Return a page that carries its state in a script."""
    encoded = msgspec.json.encode(data).decode().replace("</", "<\\/")
    return (
        f"<!DOCTYPE html><html><head><title>{escape(title)}</title></head><body><div id='root'>Loading</div>"
        f"<script>window.__STATE__ = {encoded};</script><script src='/app.js'></script></body></html>"
    )


def board_data(view: MatchView, *, brief: bool = False) -> dict[str, Any]:
    """Return what the script of the board asks for: the words that it draws."""
    played = view.match.played
    shown: dict[str, Any] = {
        "id": view.site_id,
        "title": played.title,
        "status": "Match finished" if view.says_finished else _STATES[view.status],
        "pause": _BREAK_WORDS[view.pause] if view.pause else "",
        "start": view.match.starts_at.isoformat(),
        "maxOvers": played.overs or 0,
        "teams": [{"name": name, "short_name": short} for name, short in played.teams],
        "series": played.series,
        "format": played.match_type,
        "innings": [_board_innings(each, view) for each in view.innings],
        "link": f"/m/{view.site_id}",
    }
    if not brief:
        result = {name: played.result.get(name, "") for name in ("winner", "outcome", "method")}
        shown |= {
            "venue": played.venue,
            "toss": {"winner": played.toss[0], "decision": played.toss[1]},
            "result": result if view.has_result else {},
            "balls": [
                {
                    "key": ball.key,
                    "innings": ball.innings,
                    "over": ball.over,
                    "ball": ball.ball,
                    "runs": ball.runs,
                    "extra": ball.extra,
                    "wicket": ball.wicket,
                    "text": ball.text,
                }
                for ball in view.balls
            ],
        }
    return _without(shown, view, innings="innings", balls="balls", venue="venue")


def _board_innings(each: InningsScore, view: MatchView) -> dict[str, Any]:
    flags = {"declared": each.is_declared, "follow_on": each.is_follow_on, "super_over": each.is_super_over}
    score = f"{each.runs}/{each.wickets}{'d' if each.is_declared else ''} ({overs_of(each.balls)} ov)"
    named: dict[str, Any] = {"team": view.match.played.teams[each.side][0], "score": score, "target": each.target or 0}
    return named | flags | {"flags": " ".join(name for name, holds in flags.items() if holds)}


def board_html(data: dict[str, Any]) -> str:
    """Return the board as the site's script draws it (`BOARD_SCRIPT` does the same in a browser)."""
    teams = "".join(
        f'<div class="team"><span class="team-name">{escape(team["name"])}</span>'
        f' <span class="team-short">{escape(team["short_name"])}</span></div>'
        for team in data["teams"]
    )
    innings = "".join(
        f'<div class="innings" data-flags="{each["flags"]}" data-target="{each["target"] or ""}">'
        f'<span class="innings-team">{escape(each["team"])}</span>'
        f' <span class="innings-score">{each["score"]}</span></div>'
        for each in data.get("innings", ())
    )
    balls = "".join(
        f'<li data-ball="{ball["key"]}" data-runs="{ball["runs"]}" data-extra="{escape(ball["extra"])}"'
        f' data-wicket="{escape(ball["wicket"])}" title="{escape(ball["text"])}">{ball["runs"]}</li>'
        for ball in data.get("balls", ())
    )
    result = data.get("result") or {"winner": "", "outcome": "", "method": ""}
    toss = data.get("toss") or {"winner": "", "decision": ""}
    return (
        f'<article data-match-id="{escape(data["id"])}" data-start="{escape(data["start"])}"'
        f' data-overs="{data["maxOvers"] or ""}">'
        f'<h2 class="match-title">{escape(data["title"])}</h2><p class="match-status">{escape(data["status"])}</p>'
        f'<p class="match-break">{escape(data["pause"])}</p><p class="match-series">{escape(data["series"])}</p>'
        f'<p class="match-format">{escape(data["format"])}</p>'
        f'<p class="match-venue">{escape(data.get("venue", ""))}</p>'
        f'<p class="match-toss" data-winner="{escape(toss["winner"])}" data-decision="{escape(toss["decision"])}"></p>'
        f'<p class="match-winner" data-outcome="{escape(result["outcome"])}" data-method="{escape(result["method"])}">'
        f"{escape(result['winner'])}</p>"
        f'{teams}{innings}<ol>{balls}</ol><a class="match-link" href="{escape(data["link"])}">Scorecard</a></article>'
    )


def drawn_page(boards: Sequence[dict[str, Any]]) -> str:
    """Return a page of boards as a browser has it after its script has run."""
    drawn = "".join(board_html(data) for data in boards)
    return (
        "<!DOCTYPE html><html><head><title>Scores</title></head><body>"
        f'<main class="match-list" id="board">{drawn}</main></body></html>'
    )


SHELL = (
    '<!DOCTYPE html><html><head><meta charset="utf-8"><title>Scores</title></head>'
    '<body><main id="board"></main><script src="/board.js"></script></body></html>'
)
BOARD_SCRIPT = """
const main = document.getElementById("board");
const make = (tag, name, text, attributes) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text) node.textContent = text;
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  return node;
};
const draw = data => {
  const board = make("article", "", "",
    {"data-match-id": data.id, "data-start": data.start, "data-overs": data.maxOvers || ""});
  board.append(make("h2", "match-title", data.title), make("p", "match-status", data.status),
    make("p", "match-break", data.pause), make("p", "match-series", data.series),
    make("p", "match-format", data.format), make("p", "match-venue", data.venue || ""));
  const toss = data.toss || {winner: "", decision: ""};
  board.append(make("p", "match-toss", "", {"data-winner": toss.winner, "data-decision": toss.decision}));
  const result = Object.assign({winner: "", outcome: "", method: ""}, data.result);
  board.append(make("p", "match-winner", result.winner,
    {"data-outcome": result.outcome, "data-method": result.method}));
  for (const each of data.teams) {
    const team = make("div", "team");
    team.append(make("span", "team-name", each.name), " ", make("span", "team-short", each.short_name));
    board.append(team);
  }
  for (const each of data.innings || []) {
    const innings = make("div", "innings", "", {"data-flags": each.flags, "data-target": each.target || ""});
    innings.append(make("span", "innings-team", each.team), " ", make("span", "innings-score", each.score));
    board.append(innings);
  }
  const balls = make("ol");
  for (const ball of data.balls || [])
    balls.append(make("li", "", String(ball.runs), {"data-ball": ball.key, "data-runs": ball.runs,
      "data-extra": ball.extra, "data-wicket": ball.wicket, title: ball.text}));
  board.append(balls, make("a", "match-link", "Scorecard", {href: data.link}));
  return board;
};
const refresh = () => fetch(`/api${location.pathname === "/" ? "/list" : location.pathname}.json`)
  .then(answer => answer.ok ? answer.json() : Promise.reject(answer.status))
  .then(boards => { main.className = "match-list"; main.replaceChildren(...boards.map(draw)); })
  .catch(() => {});
refresh();
setInterval(refresh, 1000);
"""


def _without(shown: dict[str, Any], view: MatchView, **names: str) -> dict[str, Any]:
    return {name: value for name, value in shown.items() if not any(names.get(field) == name for field in view.missing)}
