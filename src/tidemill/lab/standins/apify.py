"""A stand-in for Apify: actors are started, polled and aborted, and what they find is paged through."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.lab.standins.talk import Call, StandinFault, StandinReply, json_reply

Actor = Callable[[Mapping[str, Any]], Sequence[Mapping[str, Any]]]
"""What an actor finds for its input."""

_START = re.compile(r"/v2/acts/([\w.~-]+)/runs")
_RUN = re.compile(r"/v2/actor-runs/(\w+)(/abort)?")
_ITEMS = re.compile(r"/v2/datasets/(\w+)/items")


class Run(msgspec.Struct):
    """One run of an actor, as the platform keeps it."""

    id: str
    actor: str
    items: Sequence[Mapping[str, Any]]
    started_at: datetime
    ends_at: datetime
    timeout: timedelta
    status: str = "RUNNING"
    message: str = ""


class Apify:
    """Answers as api.apify.com does. A run takes `takes`; `fault` can be set at any time.

    `started` and `aborted` hold the runs in order; `fails` lets the runs that end do so badly.
    """

    def __init__(
        self,
        actors: Mapping[str, Actor],
        token: str = "apify-token",  # noqa: S107 - the lab's own, it opens nothing
        *,
        takes: timedelta = timedelta(0),
        dollars_a_run: float = 0.05,
    ) -> None:
        """`actors` by `owner~name`."""
        self._actors = actors
        self._token = token
        self._runs: dict[str, Run] = {}
        self.takes = takes
        self.dollars_a_run = dollars_a_run
        self.fault = StandinFault.NONE
        self.fails = ""
        self.started: list[Run] = []
        self.aborted: list[str] = []

    async def answer(self, call: Call, now: datetime) -> StandinReply:
        """Answer one call."""
        if (refusal := self._refusal(call)) is not None:
            return refusal
        if call.path == "/v2/users/me":
            return json_reply({"data": {"id": "lab", "username": "lab", "plan": {"id": "FREE"}}})
        if (found := _START.fullmatch(call.path)) and call.method == "POST":
            return self._start(found[1], call, now)
        if found := _RUN.fullmatch(call.path):
            return self._look(found[1], now, aborts=found[2] is not None)
        if found := _ITEMS.fullmatch(call.path):
            return self._items(found[1], call.query)
        return _error(404, "record-not-found", "The requested resource was not found")

    def _refusal(self, call: Call) -> StandinReply | None:
        if self.fault in FAULTS:
            return FAULTS[self.fault]
        if call.headers.get("authorization") != f"Bearer {self._token}" or self.fault is StandinFault.BAD_KEY:
            return _error(401, "user-or-token-not-found", "User was not found or authentication token is not valid")
        return None

    def _start(self, name: str, call: Call, now: datetime) -> StandinReply:
        if self.fault is StandinFault.OUT_OF_QUOTA:
            return _error(402, "not-enough-usage-to-run-paid-actor", "Your remaining usage is not enough to run it")
        actor = self._actors.get(name)
        if actor is None:
            return _error(404, "record-not-found", "Actor was not found")
        items = actor(msgspec.json.decode(call.content or b"{}"))
        key = f"run{len(self._runs) + 1:06}"
        limit = timedelta(seconds=float(call.query.get("timeout", "3600")))
        run = self._runs[key] = Run(key, name, items, now, now + self.takes, limit)
        self.started.append(run)
        return json_reply({"data": self._told(run)}, 201)

    def _look(self, key: str, now: datetime, *, aborts: bool) -> StandinReply:
        run = self._runs.get(key)
        if run is None:
            return _error(404, "record-not-found", "Actor run was not found")
        self._move_on(run, now)
        if aborts and run.status == "RUNNING":
            run.status = "ABORTED"
            self.aborted.append(key)
        return json_reply({"data": self._told(run)})

    def _move_on(self, run: Run, now: datetime) -> None:
        """Let a run end when its time has come."""
        if run.status != "RUNNING":
            return
        if now >= run.started_at + run.timeout < run.ends_at:
            run.status, run.message = "TIMED-OUT", "The Actor timed out"
        elif now >= run.ends_at:
            run.status, run.message = ("FAILED", self.fails) if self.fails else ("SUCCEEDED", "Finished!")

    def _told(self, run: Run) -> dict[str, Any]:
        is_over = run.status != "RUNNING"
        return {
            "id": run.id, "actId": run.actor, "status": run.status, "statusMessage": run.message,
            "startedAt": run.started_at, "defaultDatasetId": f"set{run.id[3:]}", "options": {},
            "usageTotalUsd": self.dollars_a_run if is_over else 0.0,
        }  # fmt: skip

    def _items(self, key: str, query: Mapping[str, str]) -> StandinReply:
        run = self._runs.get(f"run{key[3:]}")
        if run is None:
            return _error(404, "record-not-found", "Dataset was not found")
        offset = int(query.get("offset", "0"))
        limit = int(query.get("limit", "250000"))
        shown = run.items[offset : offset + limit]
        counts = {"total": len(run.items), "offset": offset, "limit": limit, "count": len(shown)}
        told = {f"X-Apify-Pagination-{name}": str(count) for name, count in counts.items()}
        return json_reply(list(shown), headers=told)


def _error(status: int, kind: str, message: str) -> StandinReply:
    return json_reply({"error": {"type": kind, "message": message}}, status)


FAULTS = {
    StandinFault.DOWN: StandinReply(is_down=True),
    StandinFault.HANGS: StandinReply(hangs=True),
    StandinFault.BROKEN: _error(503, "internal-server-error", "We have bad luck today"),
    StandinFault.GARBAGE: StandinReply(200, b"<html>Bad gateway?</html>", {"content-type": "text/html"}),
    StandinFault.RATE_LIMITED: _error(
        429, "rate-limit-exceeded", "You have exceeded the rate limit of 60 requests per second"
    ),
}
"""What is answered to everyone while a fault lasts."""
