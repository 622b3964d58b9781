"""A stand-in for Serper.dev: `POST /search` with a key, organic results in order, a credit for each."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tidemill.lab.standins.talk import Call, StandinFault, StandinReply, json_reply
from tidemill.lab.standins.unwell import refusal

NOISE = ("https://www.facebook.com/events/{place}", "https://nl.wikipedia.org/wiki/{place}")
"""What every question brings up besides what was looked for."""


class _SerperQuestion(msgspec.Struct):
    q: str
    num: int = 10


class SerperStandin:
    """Answers as google.serper.dev does: for a question that names a place, that place's pages among noise.

    `asked` holds every question that was paid for, in order; `pages` and `fault` can be set at any time.
    """

    def __init__(self, pages: Mapping[str, Sequence[str]], key: str = "serper-key") -> None:
        """`pages` are addresses by the name of their place."""
        self.pages = pages
        self._key = key
        self.asked: list[str] = []
        self.fault = StandinFault.NONE

    async def answer(self, call: Call, now: datetime) -> StandinReply:
        """Answer one call."""
        del now
        if (trouble := refusal(self.fault, call.headers.get("x-api-key"), self._key)) is not None:
            return trouble
        if (call.method, call.path) != ("POST", "/search"):
            return json_reply({"message": "Not Found"}, 404)
        try:
            asked = msgspec.json.decode(call.content, type=_SerperQuestion)
        except msgspec.DecodeError:
            return json_reply({"message": "Missing query parameter"}, 400)
        self.asked.append(asked.q)
        organic = [
            {"title": f"Agenda {place}", "link": link, "snippet": f"Alle evenementen in {place}", "position": number}
            for number, (place, link) in enumerate(self._found(asked.q)[: asked.num], 1)
        ]
        return json_reply({"searchParameters": {"q": asked.q, "type": "search"}, "organic": organic, "credits": 1})

    def _found(self, question: str) -> list[tuple[str, str]]:
        named = [place for place in self.pages if place.lower() in question.lower()]
        links = [(place, link) for place in named for link in self.pages[place]]
        return [*links, *(("elders", link.format(place="elders")) for link in NOISE)]
