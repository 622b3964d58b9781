"""Dying together: a test worker that hangs must not outlive the test run that started it."""

import ctypes
import signal
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies; Linux only, elsewhere nothing happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
