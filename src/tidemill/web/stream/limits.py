"""How many streams a process serves, in all and for one token."""

import hashlib
from collections import Counter
from typing import Literal

from starlette.requests import Request

MOST_READERS = 2_000
MOST_PER_TOKEN = 20


class StreamLimits:
    """Counts open streams; whoever has no token counts towards the process's limit alone."""

    def __init__(self, most: int = MOST_READERS, per_token: int = MOST_PER_TOKEN) -> None:
        """Start without any."""
        self._most = most
        self._per_token = per_token
        self._open: Counter[str] = Counter()

    @property
    def open(self) -> int:
        """How many streams are open."""
        return self._open.total()

    def admit(self, identity: str) -> Literal["", "process", "token"]:
        """Count one more stream; return whose limit is reached if there is no room for it."""
        if self.open >= self._most:
            return "process"
        if identity and self._open[identity] >= self._per_token:
            return "token"
        self._open[identity] += 1
        return ""

    def release(self, identity: str) -> None:
        """Count one stream less."""
        self._open[identity] -= 1
        if not self._open[identity]:
            del self._open[identity]


def identity_of(request: Request) -> str:
    """Return whose streams a request counts towards: a digest of its token, '' without one."""
    given = request.headers.get("authorization", "")
    return hashlib.sha256(given.encode()).hexdigest() if given else ""
