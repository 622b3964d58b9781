"""The engine for many machines: Celery starts the same drains and ticks that one process runs by itself.

`celery -A tidemill.engine.celery worker` and `... beat` find their app here. It is made by the composition root, from
the settings of the process, when Celery asks for it.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Make the app on first use; the engine stands below the composition root and cannot import it by name."""
    if name != "app":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    made = globals()["app"] = import_module("tidemill.bootstrap.cluster.celery_app").app_of_environment()
    return made
