"""The readers' process with an adapter beside the others that does what the page's address says."""

import ctypes
import os
import re
import signal
import sys
import time
from dataclasses import replace

from rig.tallies import TallyRules
from tidemill.bootstrap.page_readers import process
from tidemill.bootstrap.verticals import VERTICALS
from tidemill.core.page import Page
from tidemill.core.record import Found, RawRecord, Reading, Strategy
from tidemill.core.vertical import Context
from tidemill.verticals.events.definition import EVENTS

HALF_A_CHARACTER = "half a \ud800 character"
STARTS = "2026-12-31T20:00:00+01:00"


class Obedient:
    """Reads a page as the last word of its address says."""

    id, version, domain, needs_browser = "events.obedient", "1.0.0", "*", False

    def read(self, page: Page, _context: Context) -> Reading:
        """Return records, if the page lets it."""
        match page.url.rpartition("/")[2].partition("?")[0]:
            case "spin":
                re.fullmatch(r"(a+)+b", "a" * 60)  # holds the interpreter: only the kernel can end it
            case "sleep":
                time.sleep(600)  # noqa: TID251 - waits for nobody, on purpose
            case "memory":
                return Found(records=[raw("x" * (1 << 34))])
            case "crash":
                ctypes.string_at(0)
            case "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            case "flood":
                return Found(records=[raw(f"Concert {number}") for number in range(500)])
            case "output":
                return Found(records=[raw("y" * 3_000_000)])
            case "bug":
                raise ValueError(HALF_A_CHARACTER)
        return Found(records=[raw("Concert")])


def raw(title: str) -> RawRecord:
    """A record of an event."""
    fields = {"title": title, "starts": STARTS}
    return RawRecord(fields=fields, strategy=Strategy.JSONLD, confidence=1, origin="json-ld/0")


OBEDIENT_EVENTS = replace(EVENTS, adapters={**EVENTS.adapters, Obedient.id: Obedient()}, live=TallyRules())

if __name__ == "__main__":
    VERTICALS["events"] = OBEDIENT_EVENTS
    process.main(*sys.argv[1:])
