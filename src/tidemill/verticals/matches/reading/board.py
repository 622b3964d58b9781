"""A scoreboard as a browser has drawn it: rows of teams with a score beside each, and the last balls.

Classes and attributes are those that scoreboards share; a source's settings can name others under `board`.
"""

from collections.abc import Mapping
from typing import Any

from selectolax.lexbor import LexborNode

from tidemill.core.checks.suggestions import unknown_name
from tidemill.reading.document import Document
from tidemill.reading.text import squash
from tidemill.verticals.matches.reading.json_values import Fields
from tidemill.verticals.matches.reading.match_json import MOST_LISTED
from tidemill.verticals.matches.reading.score_text import read_score
from tidemill.verticals.matches.telling import MOST_INNINGS, MOST_TOLD_BALLS

SELECTORS: Mapping[str, str] = {
    "board": "[data-match-id]",
    "title": ".match-title",
    "status": ".match-status",
    "pause": ".match-break",
    "team": ".team",
    "team_name": ".team-name",
    "team_short": ".team-short",
    "innings": ".innings",
    "innings_team": ".innings-team",
    "innings_score": ".innings-score",
    "ball": "[data-ball]",
    "venue": ".match-venue",
    "series": ".match-series",
    "match_type": ".match-format",
    "toss": ".match-toss",
    "winner": ".match-winner",
    "link": "a.match-link",
    "list": ".match-list",
}
_CONFIDENCE, _TITLE_CONFIDENCE = 0.85, 0.4
_PLACE_PARTS = 3


def board_problem(value: object) -> str:
    """Check the selectors of a source's board."""
    if not isinstance(value, dict):
        return "write selectors by name, such as {innings: .score-row}"
    for name, selector in value.items():
        if name not in SELECTORS:
            return unknown_name("selector", str(name), SELECTORS)
        if not isinstance(selector, str) or not selector.strip():
            return f"write a CSS selector for {name}"
    return ""


def boards_in(document: Document, settings: Mapping[str, Any]) -> list[Fields]:
    """Return the raw fields of every scoreboard on the page."""
    selectors = {**SELECTORS, **{name: text for name, text in settings.items() if name in SELECTORS}}
    return [board_fields(node, selectors, document) for node in document.css(selectors["board"])[:MOST_LISTED]]


def has_list(document: Document, settings: Mapping[str, Any]) -> bool:
    """Return whether the page has a list of matches, be it empty."""
    return bool(document.css(str(settings.get("list", SELECTORS["list"]))))


def board_fields(node: LexborNode, selectors: Mapping[str, str], document: Document) -> Fields:
    """Return the raw fields of one scoreboard."""
    teams = [_team(each, selectors) for each in node.css(selectors["team"])[:3]]
    names = [team["name"].casefold() for team in teams]
    shorts = [team.get("short_name", "").casefold() for team in teams]
    innings = [
        found
        for each in node.css(selectors["innings"])[: MOST_INNINGS + 1]
        if (found := _innings(each, selectors, names, shorts)) is not None
    ]
    toss = node.css_first(selectors["toss"])
    winner = node.css_first(selectors["winner"])
    link = node.css_first(selectors["link"])
    fields: Fields = {
        "id": node.attributes.get("data-match-id") or "",
        "url": document.absolute(link.attributes.get("href") or "") if link is not None else "",
        "start": node.attributes.get("data-start") or "",
        "teams": teams,
        "innings": innings,
        "balls": [ball for each in node.css(selectors["ball"])[-MOST_TOLD_BALLS:] if (ball := _ball(each)) is not None],
        "toss_winner": (toss.attributes.get("data-winner") or "") if toss is not None else "",
        "toss_decision": (toss.attributes.get("data-decision") or "") if toss is not None else "",
        "winner": _text(winner),
        "outcome": (winner.attributes.get("data-outcome") or "") if winner is not None else "",
        "method": (winner.attributes.get("data-method") or "") if winner is not None else "",
    }
    fields |= {
        name: _text(node.css_first(selectors[name]))
        for name in ("title", "status", "pause", "venue", "series", "match_type")
    }
    fields = {name: value for name, value in fields.items() if value not in ("", [], {})}
    limit = node.attributes.get("data-overs") or ""
    if limit.isdecimal() and len(limit) < 4:  # noqa: PLR2004
        fields["ball_limit"] = int(limit) * 6
    if "innings" not in fields and len(teams) == 2:  # noqa: PLR2004
        fields |= _from_title(document, names, shorts)
    return fields


def _team(node: LexborNode, selectors: Mapping[str, str]) -> Fields:
    name, short = _text(node.css_first(selectors["team_name"])), _text(node.css_first(selectors["team_short"]))
    return {"name": name} | ({"short_name": short} if short else {})


def _innings(node: LexborNode, selectors: Mapping[str, str], names: list[str], shorts: list[str]) -> Fields | None:
    team = _text(node.css_first(selectors["innings_team"])).casefold()
    score = read_score(_text(node.css_first(selectors["innings_score"])))
    side = names.index(team) if team in names else shorts.index(team) if team and team in shorts else None
    if side is None or score is None or score.balls is None:
        return None
    found: Fields = {"side": side, "runs": score.runs, "wickets": score.wickets, "balls": score.balls}
    flags = (node.attributes.get("data-flags") or "").split()
    found |= {name: True for name in ("declared", "follow_on", "super_over") if name in flags}
    if score.is_declared:
        found["declared"] = True
    target = node.attributes.get("data-target") or ""
    return found | ({"target": int(target)} if target.isdecimal() and len(target) < 6 else {})  # noqa: PLR2004


def _ball(node: LexborNode) -> Fields | None:
    place = (node.attributes.get("data-ball") or "")[:20].split(".")
    runs = node.attributes.get("data-runs") or ""
    if len(place) != _PLACE_PARTS or not all(part.isdecimal() for part in place) or not runs.isdecimal():
        return None
    extra, wicket = node.attributes.get("data-extra") or "", node.attributes.get("data-wicket") or ""
    found: Fields = {
        "innings": int(place[0]), "over": int(place[1]), "ball": int(place[2]), "runs": int(runs[:3]),
        "legal": extra not in {"wides", "noballs"}, "extra": extra, "wicket": wicket,
        "text": node.attributes.get("title") or "",
    }  # fmt: skip
    return {name: value for name, value in found.items() if value != ""}


def _from_title(document: Document, names: list[str], shorts: list[str]) -> Fields:
    """A score from the page's title alone is a hint, and below what is believed."""
    title = _text(document.css("title")[0]) if document.css("title") else ""
    for side, words in enumerate(zip(names, shorts, strict=True)):
        for word in filter(None, words):
            at = title.casefold().find(word)
            score = read_score(title[at + len(word) :]) if at >= 0 else None
            if score is not None and score.balls is not None:
                innings = [{"side": side, "runs": score.runs, "wickets": score.wickets, "balls": score.balls}]
                return {"innings": innings, "confidence": {"score": _TITLE_CONFIDENCE}}
    return {}


def _text(node: LexborNode | None) -> str:
    return squash(node.text(deep=True) or "")[:300] if node is not None else ""
