"""What takes messages from the broker, and outlasts whatever the broker hands over."""

import threading
from typing import Any

from celery.utils.log import get_logger
from celery.worker import state
from celery.worker.consumer import Consumer

log = get_logger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
LOOK_SECONDS = 0.1
"""How soon a worker that is told to stop leaves a pause."""


class SturdyConsumer(Consumer):  # type: ignore[misc]  # Celery ships no types
    """Begins anew with its broker after any error.

    Celery's own ends the whole worker when the broker says anything but that the connection is lost: for bytes in a
    queue that are no message, for a key that another program uses, for a full Redis or one that became a replica.
    """

    connection_errors: Any

    def __init__(self, *words: Any, **named: Any) -> None:
        """As Celery makes it."""
        super().__init__(*words, **named)
        self._lost = self.connection_errors
        self.connection_errors = (Exception,)
        self._pause = FIRST_PAUSE
        self.on_task_message.add(self._came)

    def _came(self, *_: Any) -> None:
        """Note that a message came: what went wrong before is over."""
        self._pause = FIRST_PAUSE

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """Tell of it, and pause before the next connection if it was not that one which broke."""
        super().on_connection_error_before_connected(exc)
        self._pause_after(exc)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Let go of the connection, and pause before the next one if it was not what broke.

        Celery fails to, and would end the worker, when the broker dies while messages are in hand that were not
        acknowledged yet: their channel is closed after its connection is gone.
        """
        try:
            super().on_connection_error_after_connected(exc)
        except Exception as trouble:  # noqa: BLE001 - the connection is lost either way, and a new one follows
            log.warning("The broken connection was not closed cleanly (%s)", type(trouble).__name__)
            self.connection = None
        self._pause_after(exc)

    def _pause_after(self, exc: Exception) -> None:
        if isinstance(exc, self._lost):
            return
        rest(self._pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)


def rest(seconds: float) -> None:
    """Wait in Celery's own thread, which has nothing else to do; a worker that is told to stop does so at once."""
    nothing = threading.Event()
    for _ in range(round(seconds / LOOK_SECONDS)):
        state.maybe_shutdown()
        nothing.wait(LOOK_SECONDS)
