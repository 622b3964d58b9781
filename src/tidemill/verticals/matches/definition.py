"""Matches as the stages see them: policy, adapters, rules, and what is shown of a record."""

from tidemill.core.vertical import Vertical
from tidemill.verticals.matches.policy import POLICY
from tidemill.verticals.matches.reading.board import board_problem
from tidemill.verticals.matches.record import MatchRecord
from tidemill.verticals.matches.rules import LIVE_RULES, judge
from tidemill.verticals.matches.sources import ADAPTERS
from tidemill.verticals.matches.sources.raw_matches import THING_URL, match_url_problem

MATCHES = Vertical(
    name="matches",
    policy=POLICY,
    adapters=ADAPTERS,
    judge=judge,
    record=MatchRecord,
    shown={"status": "status", "venue": "venue", "start": "start_time"},
    live=LIVE_RULES,
    settings={THING_URL: match_url_problem, "board": board_problem},
)
