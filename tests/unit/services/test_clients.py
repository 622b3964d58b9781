"""The clients of outside APIs: every trouble is a value, and no key is ever in it."""

from datetime import timedelta

import pytest

from rig.clock import SettableClock
from tidemill.core.discovery.search import SearchResult
from tidemill.core.services.enrichment import Geocoded
from tidemill.lab.standins.gemini import GeminiStandin
from tidemill.lab.standins.nominatim import NominatimStandin
from tidemill.lab.standins.serper import SerperStandin
from tidemill.lab.standins.talk import StandinFault, StandinReply, StandinServer
from tidemill.pipeline.outside_services import NoAnswer, NoAnswerReason
from tidemill.services.client import MAX_ANSWER_BYTES, Client, retry_after
from tidemill.services.geocoder import Nominatim, read_places
from tidemill.services.llm import Gemini, read_reply
from tidemill.services.search import Serper, read_results

SECRET = "serper-key"  # noqa: S105 - the stand-in's own
WHERE = {"query": "Luxor Live, Arnhem", "country": "nl"}


async def searched(fault):
    standin = SerperStandin({"Arnhem": ["https://a.test/agenda"]})
    standin.fault = fault
    async with StandinServer(standin) as server:
        client = Serper(server.origin, SECRET, timeout=timedelta(seconds=0.3 if fault is StandinFault.HANGS else 5))
        try:
            return await client.search("agenda Arnhem", country="NL", language="nl")
        finally:
            await client.close()


@pytest.mark.shows("E5")
async def test_a_search_answers_with_hits_in_order():
    hits = await searched(StandinFault.NONE)
    assert hits[0] == SearchResult("https://a.test/agenda", "Agenda Arnhem", "Alle evenementen in Arnhem", 1)


@pytest.mark.shows("H8")
@pytest.mark.parametrize(
    ("fault", "why", "may_be_paid"),
    [
        (StandinFault.DOWN, NoAnswerReason.DOWN, True),
        (StandinFault.HANGS, NoAnswerReason.DOWN, True),
        (StandinFault.BROKEN, NoAnswerReason.DOWN, False),
        (StandinFault.GARBAGE, NoAnswerReason.GARBAGE, True),
        (StandinFault.RATE_LIMITED, NoAnswerReason.LIMITED, False),
        (StandinFault.OUT_OF_QUOTA, NoAnswerReason.REFUSED, False),
        (StandinFault.BAD_KEY, NoAnswerReason.REFUSED, False),
    ],
)
async def test_every_trouble_is_a_value_that_holds_no_key(fault, why, may_be_paid):
    answer = await searched(fault)
    assert isinstance(answer, NoAnswer)
    assert (answer.reason, answer.sent) == (why, may_be_paid)
    assert SECRET not in repr(answer)


async def test_nobody_there_means_that_nothing_was_sent():
    client = Serper("http://127.0.0.1:9", SECRET)
    answer = await client.search("agenda Arnhem", country="NL", language="nl")
    await client.close()
    assert answer == NoAnswer(NoAnswerReason.DOWN, "no connection", sent=False)


class Says:
    """A service that gives one answer to everything."""

    def __init__(self, reply):
        self.reply = reply
        self.calls = []

    async def answer(self, call, now):
        del now
        self.calls.append(call)
        return self.reply


async def said(reply):
    standin = Says(reply)
    async with StandinServer(standin) as server:
        client = Client(server.origin, {"X-API-KEY": SECRET}, timeout=timedelta(seconds=5))
        answer = await client.get("/x", {})
        await client.close()
    return answer, standin.calls


async def test_a_redirect_is_not_followed_because_it_would_carry_the_key_elsewhere():
    answer, calls = await said(StandinReply(302, b"", {"location": "/elsewhere"}))
    assert answer.reason is NoAnswerReason.REFUSED
    assert len(calls) == 1


async def test_an_answer_larger_than_any_should_be_is_not_read_to_its_end():
    answer, _ = await said(StandinReply(200, b"x" * (MAX_ANSWER_BYTES + 10)))
    assert answer.reason is NoAnswerReason.GARBAGE


@pytest.mark.parametrize(
    ("header", "wait"), [("60", 60), ("999999", 3600), ("", None), ("Tue, 01", None), ("-1", None)]
)
def test_a_wait_is_obeyed_within_an_hour(header, wait):
    assert retry_after(header) == (None if wait is None else timedelta(seconds=wait))


@pytest.mark.shows("N2")
async def test_the_model_answers_in_json_with_its_bill():
    async with StandinServer(GeminiStandin()) as server:
        model = Gemini(server.origin, "gemini-key", "gemini-2.5-flash-lite")
        reply = await model.answer('Entries:\n{"id":0,"kind":"category","title":"x","text":""}', {}, 100)
        await model.close()
    assert reply.text == b'{"answers":[{"id":0,"value":"social","sureness":0.8}]}'
    assert reply.tokens_in > 0
    assert reply.tokens_out > 0


@pytest.mark.shows("N3")
async def test_the_geocoder_says_who_it_is_and_waits_its_turn():
    clock = SettableClock()
    standin = NominatimStandin({"Arnhem": (51.98, 5.9)})
    async with StandinServer(standin) as server:
        geocoder = Nominatim(server.origin, clock, user_agent="Tidemill/0.1")
        began = clock.now()
        found = [await geocoder.locate(WHERE) for _ in range(3)]
        unknown = await geocoder.locate({"query": "Nergens"})
        await geocoder.close()
    assert all(isinstance(each, Geocoded) and each.exact for each in found)
    assert unknown == Geocoded(None)
    assert clock.now() - began == timedelta(seconds=3)


@pytest.mark.shows("N3")
@pytest.mark.parametrize("content", [b"", b"{}", b'[{"lat": "x", "lon": "y"}]', b'[{"lat": 999, "lon": 1}]', b"\xff",
                                     b'[{"lat": "nan", "lon": "5"}]'])  # fmt: skip
def test_garbage_from_a_geocoder_is_no_place(content):
    assert read_places(content).reason is NoAnswerReason.GARBAGE


@pytest.mark.parametrize("content", [b"", b"[]", b'{"organic": [1, 2]}', b'{"organic": [{"no": "link"}]}', b"\xff"])
def test_garbage_from_a_search_is_no_result(content):
    assert read_results(content).reason is NoAnswerReason.GARBAGE


def test_one_broken_result_costs_none_of_the_others():
    assert [hit.url for hit in read_results(b'{"organic": [{"link": 1}, {"link": "https://a.test"}]}')] == [
        "https://a.test"
    ]


def test_nothing_found_is_an_answer():
    assert read_results(b'{"organic": []}') == ()


def test_a_reply_that_a_filter_stopped_has_no_words_and_still_a_bill():
    reply = read_reply(b'{"candidates": [{"finishReason": "SAFETY"}], "usageMetadata": {"promptTokenCount": 7}}')
    assert (reply.text, reply.tokens_in) == (b"", 7)
    assert read_reply(b"<html>").reason is NoAnswerReason.GARBAGE
