"""The listeners to happenings."""

from tidemill.pipeline.happenings import Announce, Happening


class Listeners:
    """Hands every happening to each listener, in order."""

    def __init__(self, *listeners: Announce) -> None:
        """Start with these listeners."""
        self._listeners = list(listeners)

    def add(self, listener: Announce) -> None:
        """Add a listener."""
        self._listeners.append(listener)

    def __call__(self, happening: Happening) -> None:
        """Call every listener with the happening."""
        for listener in self._listeners:
            listener(happening)
