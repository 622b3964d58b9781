"""How events are scraped: the agenda preset, once a day."""

from tidemill.core.policy import AGENDA

POLICY = AGENDA
