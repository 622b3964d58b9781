"""Sends wake-ups over one kept connection, and no more than a queue can use."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any

from celery import Celery
from kombu.exceptions import KombuError
from kombu.transport.virtual import Transport as VirtualTransport

from tidemill.engine.celery.app import BROKER_SECONDS, DRAIN, QUEUES, queue_of

NO_SUCH_QUEUE = "404"
AT_ONCE = {"max_retries": 0, "interval_start": 0, "interval_step": 0, "interval_max": 0}
"""A connection that breaks while it is used is not opened again behind our back, for ever."""


class Mailbox:
    """Talks to the broker; used by one thread, because a broker that hangs holds whoever asks it."""

    def __init__(self, app: Celery, expires: timedelta) -> None:
        """Nothing is opened yet; a message that nobody has taken after `expires` is dropped."""
        self._app = app
        self._expires = expires
        self._connection: Any = None
        self._producer: Any = None

    def send(self, wanted: Mapping[str, int]) -> str:
        """See that so many wake-ups wait for each lane; return '' or what is wrong."""
        return self._done(lambda: self._send(wanted))

    def look(self) -> str:
        """Look at the queues that every cluster has; return '' or what is wrong."""
        return self._done(lambda: [waiting_in(self._connection, queue) for queue in QUEUES])

    def close(self) -> None:
        """Let go of the connection."""
        connection, self._connection, self._producer = self._connection, None, None
        if connection is not None:
            connection.collect(socket_timeout=1)

    def _done(self, work: Callable[[], object]) -> str:
        """Do it, over a new connection if the kept one has ended; tell of trouble without the broker's address."""
        was_kept = self._connection is not None
        try:
            self._open()
            work()
        except Exception as error:  # noqa: BLE001 - transports raise what they like; work goes on without a broker
            self.close()
            return self._done(work) if was_kept else f"the broker does not answer ({type(error).__name__})"
        return ""

    def _open(self) -> None:
        if self._connection is None:
            self._connection = self._app.connection_for_write(
                connect_timeout=BROKER_SECONDS, heartbeat=0, transport_options=AT_ONCE
            )
            self._connection.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
            self._producer = self._app.amqp.Producer(self._connection.default_channel)

    def _send(self, wanted: Mapping[str, int]) -> None:
        """Send what is not waiting yet: where no worker takes a lane's messages, they must not pile up."""
        for lane, workers in wanted.items():
            queue = queue_of(lane)
            for _ in range(workers - waiting_in(self._connection, queue) if workers else 0):
                self._app.send_task(
                    DRAIN, (lane,), queue=queue, producer=self._producer, retry=False,
                    expires=self._expires.total_seconds(),
                )  # fmt: skip


def waiting_in(connection: Any, queue: str) -> int:
    """Count a queue's messages."""
    with _channel_to_look_by(connection) as channel:
        try:
            return int(channel.queue_declare(queue=queue, passive=True).message_count)
        except (KombuError, *connection.channel_errors) as error:
            if str(getattr(error, "reply_code", "")) == NO_SUCH_QUEUE:
                return 0
            raise


def _channel_to_look_by(connection: Any) -> AbstractContextManager[Any]:
    """Return the channel that is kept, where a missing queue does not close it; over Redis each other is a connection.

    RabbitMQ closes the channel on which it misses a queue, so there it is one of its own.
    """
    if isinstance(connection.transport, VirtualTransport):
        return nullcontext(connection.default_channel)
    channel: AbstractContextManager[Any] = connection.channel()
    return channel
