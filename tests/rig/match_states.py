"""States of a match as readers get them, ball by ball."""

from typing import Any


def match_state(balls: int, title: str = "Northport v Eastvale", **other: Any) -> dict[str, Any]:
    """A match in which every ball was hit for one run, the sixth of them a wicket."""
    score = {"runs": balls, "wickets": balls // 6, "balls": balls, "overs": f"{balls // 6}.{balls % 6}"}
    return {
        "title": title,
        "status": "live",
        "teams": {"team_a": {"name": "Northport"}, "team_b": {"name": "Eastvale"}},
        "innings": {"1": {"team": "team_a", **score}},
        "score": {"team_a": score},
        "balls": {f"1.{n // 6}.{n % 6 + 1}": {"runs": 1} | ({"wicket": "bowled"} if n % 6 == 5 else {})
                  for n in range(max(0, balls - 12), balls)},
        "venue": "Northport Oval",
        "toss": {"winner": "Eastvale", "decision": "field"},
        "metadata": {"series": "Harbour Cup", "match_type": "T20"},
        **other,
    }  # fmt: skip
