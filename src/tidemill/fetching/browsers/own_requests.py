"""What an open page asks by itself between two readings: held, sent when it is read, and how it was answered."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

ASKS_WITHIN = 3.0
"""Seconds within which a page that polls its site asks again."""
ANSWERS_WITHIN = 10.0
MOST_HELD = 20
"""Requests that are held; older ones fail, as does one that is asked again before it was sent."""
_FIRST_ERROR = 400


class OwnRequests:
    """The requests of one open page."""

    def __init__(self) -> None:
        """Nothing is asked yet."""
        self.is_released = False
        self._held: list[dict[str, Any]] = []
        self._under_way: set[str] = set()
        self._went_well = False
        self._is_asking = asyncio.Event()
        self._is_answered = asyncio.Event()

    def forget(self) -> None:
        """Begin with a new document: what the old one asked is gone with it."""
        self._held.clear()
        self._under_way.clear()
        self._is_asking.clear()
        self.is_released = False

    def hold(self, event: dict[str, Any]) -> list[dict[str, Any]]:
        """Hold a paused request; return those that are given up for it: the same question asked before, or too many."""
        question = _question(event)
        given_up = [each for each in self._held if _question(each) == question]
        self._held = [each for each in self._held if _question(each) != question] + [event]
        self._is_asking.set()
        given_up += self._held[:-MOST_HELD]
        self._held = self._held[-MOST_HELD:]
        return given_up

    async def asked_within(self, seconds: float) -> bool:
        """Wait until the page wants to ask for something; return whether it does."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_asking.wait(), seconds)
        return self._is_asking.is_set()

    def release(self) -> None:
        """From now on requests are sent rather than held."""
        self.is_released = True
        self._went_well = False
        self._under_way.clear()
        self._is_answered.clear()

    def take_held(self) -> list[dict[str, Any]]:
        """Return the requests that were held, oldest first, and hold them no longer."""
        held, self._held = self._held, []
        self._is_asking.clear()
        return held

    def sent(self, event: Mapping[str, Any]) -> None:
        """A request is on its way."""
        self._under_way.add(event.get("networkId", event["requestId"]))

    async def answered_within(self, seconds: float) -> bool:
        """Wait until every request that was sent is over; return whether one at least was answered well."""
        if self._under_way:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_answered.wait(), seconds)
        return self._went_well

    def on_response(self, event: Mapping[str, Any]) -> None:
        """The head of an answer is there."""
        if event["requestId"] in self._under_way and event["response"]["status"] < _FIRST_ERROR:
            self._went_well = True

    def on_finished(self, event: Mapping[str, Any]) -> None:
        """An answer is there."""
        self._over(event["requestId"])

    def on_failed(self, event: Mapping[str, Any]) -> None:
        """A request came to nothing."""
        self._over(event["requestId"])

    def _over(self, request_id: str) -> None:
        self._under_way.discard(request_id)
        if not self._under_way:
            self._is_answered.set()


def _question(event: Mapping[str, Any]) -> tuple[str, str, str]:
    request = event["request"]
    return request["method"], request["url"], request.get("postData", "")
