"""The Celery app: its queues and its settings. The broker carries wake-ups and nothing else."""

from collections.abc import Iterable
from typing import Any

from celery import Celery
from kombu.entity import Exchange, Queue

SCRAPING, MAINTENANCE, REST = "scraping", "maintenance", "celery"
QUEUES = (SCRAPING, MAINTENANCE, REST)
ELSEWHERE = ("browser", "live")
"""Lanes with a queue of their own: a wake-up must not go to a worker that does not run its lane."""
DRAIN, TICK = "tidemill.drain", "tidemill.tick"
THREADS = 4
"""Tasks at once: a drain only wakes a lane, but a tick waits for its end."""
BROKER_SECONDS = 5
"""A broker that has not answered after so long counts as away."""


def queue_of(lane: str) -> str:
    """Return the queue that wakes a lane; `scraping` is that of plain pages, the lane that every cluster has."""
    return f"{SCRAPING}.{lane}" if lane in ELSEWHERE else SCRAPING


def make_app(broker: str) -> Celery:
    """Return an app without tasks; nothing is asked of the broker yet."""
    app = Celery("tidemill", broker=broker, set_as_current=False)
    app.conf.update(configuration(QUEUES), broker_transport_options=transport_options(broker))
    return app


def transport_options(broker: str) -> dict[str, Any]:
    """Return how long each kind of broker may take to answer; without these a frozen one holds its clients for good."""
    if broker.startswith("redis"):
        return {"socket_connect_timeout": BROKER_SECONDS, "socket_timeout": BROKER_SECONDS}
    return {"read_timeout": BROKER_SECONDS, "write_timeout": BROKER_SECONDS}


def configuration(queues: Iterable[str]) -> dict[str, Any]:
    """Return the settings of Celery.

    Results, retries and late acknowledgement stay off: leases and attempts are in the database, and a message that is
    lost costs one poll. Threads, because a forked process must not share an open database.
    """
    return {
        "task_queues": [Queue(name, Exchange(name), routing_key=name) for name in queues],
        "task_default_queue": REST,
        "task_serializer": "json",
        "accept_content": ["json"],
        "enable_utc": True,
        "timezone": "UTC",
        "result_backend": None,
        "task_ignore_result": True,
        "task_acks_late": False,
        "task_publish_retry": False,
        "worker_pool": "threads",
        "worker_concurrency": THREADS,
        "worker_prefetch_multiplier": 1,
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_connection_timeout": BROKER_SECONDS,
        "worker_consumer": "tidemill.engine.celery.consumer:SturdyConsumer",
        "beat_scheduler": "tidemill.engine.celery.slots:SlotScheduler",
        "beat_max_loop_interval": 5,
    }
