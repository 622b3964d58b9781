"""The functions that readers run by name, listed by hand: nothing registers itself on import."""

from typing import Any

from tidemill.pipeline.inspection import INSPECTED
from tidemill.pipeline.reader_functions.chosen_selectors import CHOICE, TRIAL
from tidemill.pipeline.reader_functions.dry_readings import DRY_READ, JUDGED
from tidemill.pipeline.reader_functions.feeds import FEED_LISTED
from tidemill.pipeline.reader_functions.function import ReaderFunction
from tidemill.pipeline.reader_functions.live_pages import TOLD
from tidemill.pipeline.reader_functions.notices import NOTICE
from tidemill.pipeline.reader_functions.stored_pages import CHANGED, MARKED, REBUILT
from tidemill.pipeline.reader_functions.tried_addresses import TRIED
from tidemill.pipeline.repair import EXAMINED

LISTED: tuple[ReaderFunction[Any, Any], ...] = (
    CHANGED,
    CHOICE,
    DRY_READ,
    EXAMINED,
    FEED_LISTED,
    INSPECTED,
    JUDGED,
    MARKED,
    NOTICE,
    REBUILT,
    TOLD,
    TRIAL,
    TRIED,
)
FUNCTIONS = {function.name: function for function in LISTED}
