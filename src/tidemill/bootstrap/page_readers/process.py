"""The process that readers are forked from; workers start it with a connection and the limits."""

import gc
import socket
import sys

import msgspec

from tidemill.bootstrap.page_readers.functions import FUNCTIONS
from tidemill.bootstrap.verticals import VERTICALS
from tidemill.engine.readers.fork_server import run_fork_server
from tidemill.engine.readers.limits import ReaderLimits
from tidemill.engine.readers.reader import be_nice, serve

NICE_STEPS = 5
GC_THRESHOLD = 20_000


def main(descriptor: str, limits: str) -> None:
    """Serve the worker at the other end of a connection."""
    allowed = msgspec.json.decode(limits, type=ReaderLimits)

    def read_pages(connection: socket.socket, is_nice: bool) -> None:  # noqa: FBT001 - as the fork server calls it
        if is_nice:
            be_nice(NICE_STEPS)
        serve(connection, VERTICALS, FUNCTIONS, allowed)

    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 50)
    run_fork_server(socket.socket(fileno=int(descriptor)), read_pages)


if __name__ == "__main__":
    main(*sys.argv[1:])
