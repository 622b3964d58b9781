"""Who is told of what happens."""

from tidemill.pipeline.happenings import Announce, Happening


class Listeners:
    """Hands every happening to each listener, in order."""

    def __init__(self, *listeners: Announce) -> None:
        """Start with these."""
        self._listeners = list(listeners)

    def add(self, listener: Announce) -> None:
        """One more to be told."""
        self._listeners.append(listener)

    def __call__(self, happening: Happening) -> None:
        """Tell everyone."""
        for listener in self._listeners:
            listener(happening)
