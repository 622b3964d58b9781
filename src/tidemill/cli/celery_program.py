"""Start Celery's own programs on our app."""

from collections.abc import Sequence

from tidemill.operations.mistakes import Mistake
from tidemill.settings import Settings


def run_celery(settings: Settings, words: Sequence[str]) -> None:
    """Run one of Celery's commands in this process, until it ends."""
    try:
        from tidemill.bootstrap.cluster.celery_app import celery_app  # noqa: PLC0415 - an extra
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in {"celery", "kombu"}:
            raise
        msg = "the Celery engine is not installed: pip install 'tidemill[celery,postgres]'"
        raise Mistake(msg) from error
    celery_app(settings).start([*words])
