"""How prices are scraped: the monitor preset, known pages by cron, only where a person approved of it."""

from tidemill.core.policy import MONITOR

POLICY = MONITOR
