"""The past, put to the test: what readers were answered at random moments, and what they are told of them later."""

import zlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.lab.dice import dice
from tidemill.lab.simulation.laws.finished import LawVerdict, verdict
from tidemill.pipeline.ports import Clock

Answer = Callable[[str, datetime | None], Awaitable[list[dict[str, Any]] | None]]
"""Answers the whole list at an address, as of a moment if one is given; None while nobody is there to answer."""
ReaderLists = Mapping[str, Collection[str]]
"""Addresses of lists, each with the fields that are null as of a moment in the past."""
LAW = "the past is what was answered then"
SECOND = timedelta(seconds=1)
BETWEEN = timedelta(microseconds=500_003)
"""Much happens on whole seconds; what is written at the very moment of a question may or may not be in its answer."""

_encode = msgspec.json.Encoder(order="deterministic").encode


class PastAnswers:
    """Asks for lists at random moments, and for the same moments again at the end."""

    def __init__(self, lists: ReaderLists, moments: int, seed: int, begins: datetime, ends: datetime) -> None:
        """Ask at so many moments between two."""
        self._lists = lists
        chance = dice(seed, "past answers")
        seconds = int((ends - begins) / SECOND)
        drawn = sorted(chance.randrange(1, max(2, seconds)) for _ in range(moments))
        self._moments = [begins + second * SECOND + BETWEEN for second in dict.fromkeys(drawn)]
        self._answered: list[tuple[datetime, str, bytes]] = []
        self._breaches: list[str] = []
        self._things = 0

    async def listen(self, clock: Clock, answer: Answer) -> None:
        """Ask at each moment, and keep what was answered; a system that is away just then is not asked."""
        for moment in self._moments:
            await clock.sleep_until(moment)
            for address in self._lists:
                found = await answer(address, None)
                if found is not None:
                    self._answered.append((clock.now(), address, zlib.compress(_encode(found))))

    async def compare(self, answer: Answer) -> None:
        """Ask about every moment again, and note where the answer is another one."""
        for moment, address, packed in self._answered:
            then = msgspec.json.decode(zlib.decompress(packed))
            now = msgspec.json.decode(_encode(await answer(address, moment)))
            self._things += len(then)
            if (difference := _difference(then, now, self._lists[address])) is not None:
                self._breaches.append(f"{address} as of {moment.isoformat()}: {difference}")

    def verdict(self) -> LawVerdict:
        """Return whether the past was always what had been answered."""
        checked = f"{len(self._answered)} answers of {self._things} records"
        breaches = self._breaches if self._answered else ["nothing was ever answered"]
        return verdict(LAW, checked, breaches)


def _difference(then: list[dict[str, Any]], now: list[dict[str, Any]], unkept: Collection[str]) -> str | None:
    """Return how two answers differ, in words; fields that are not kept may be null."""
    if [each["id"] for each in then] != [each["id"] for each in now]:
        lost = {str(each["id"]) for each in then} - {str(each["id"]) for each in now}
        new = {str(each["id"]) for each in now} - {str(each["id"]) for each in then}
        return f"{len(then)} were shown, now {len(now)}; missing {sorted(lost)[:5]}, too many {sorted(new)[:5]}"
    for before, after in zip(then, now, strict=True):
        names = [
            name
            for name in {**before, **after}
            if before.get(name) != after.get(name) and not (name in unkept and after.get(name) is None)
        ]
        if names:
            told = {name: [before.get(name), after.get(name)] for name in names}
            return f"{before['id']} differs: {_encode(told).decode()[:300]}"
    return None
