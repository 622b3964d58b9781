"""Interpreter settings for a process with an event loop, a database thread and thousands of records in memory."""

import gc
import sys

GC_THRESHOLD = 20_000
"""New objects between two garbage collections; a page makes a few hundred, nearly all freed by reference count."""
SWITCH_INTERVAL = 0.000_1
"""Seconds after which a busy thread gives up the interpreter lock when another asks for it: less than a stage takes.

A waiting thread starts counting again each time the lock is released for an instant, which the event loop does once per
turn. With a longer interval than a turn, a commit's thread never got the lock: it was taken again each time it woke.
"""


def tune_interpreter() -> None:
    """Exclude loaded objects from garbage collection, collect less often, and switch threads sooner.

    The collector walked hundreds of thousands of modules' objects again and again for records that have
    no cycles: a tenth of a page's cost. And a commit needs the interpreter lock a few times between its waits for the
    disk: with Python's five milliseconds each it took several times as long, and the loop ran out of work.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 50)
    sys.setswitchinterval(SWITCH_INTERVAL)
