"""How matches are scraped: the live preset, watched by the hour and polled within seconds."""

from tidemill.core.policy import LIVE

POLICY = LIVE
