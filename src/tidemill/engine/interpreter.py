"""The interpreter, set for a process that holds thousands of pages' records and keeps one thread beside its loop."""

import gc
import sys

LOOK_EVERY = 20_000
"""New objects between two looks; a page's records are a few hundred, and nearly all are let go by themselves."""
TURN = 0.000_5
"""Seconds that a busy thread keeps the interpreter when another one asks for it."""


def settle_in() -> None:
    """Leave what is loaded by now out of every later search, search less often, and hand over sooner.

    The collector walked hundreds of thousands of modules' objects again and again for the sake of records that hold
    no cycles: a tenth of a page's cost. And a commit asks for the interpreter a few times between its waits for the
    disk: at Python's five milliseconds each it took thrice as long as the disk did, and the loop ran out of work.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(LOOK_EVERY, 20, 50)
    sys.setswitchinterval(TURN)
