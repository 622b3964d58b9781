"""The interpreter, set for a process that holds thousands of pages' records and keeps one thread beside its loop."""

import gc
import sys

LOOK_EVERY = 20_000
"""New objects between two looks; a page's records are a few hundred, and nearly all are let go by themselves."""
TURN = 0.000_1
"""Seconds that a busy thread keeps the interpreter when another one asks for it: less than a stage takes.

Whoever waits counts anew each time that the interpreter is let go for an instant, which a loop does once a turn. With
more than a turn's time, a commit's thread was never given it: it woke up each time to find it taken again.
"""


def settle_in() -> None:
    """Leave what is loaded by now out of every later search, search less often, and hand over sooner.

    The collector walked hundreds of thousands of modules' objects again and again for the sake of records that hold
    no cycles: a tenth of a page's cost. And a commit asks for the interpreter a few times between its waits for the
    disk: with Python's five milliseconds each it took several times as long, and the loop ran out of work.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(LOOK_EVERY, 20, 50)
    sys.setswitchinterval(TURN)
