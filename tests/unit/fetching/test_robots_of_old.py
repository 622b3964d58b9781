"""What broke in others' robots.txt handling, each case by its name."""

from datetime import timedelta

import pytest

from rig.clock import SettableClock
from tidemill.core.failure import Failure
from tidemill.fetching.robots import Allowed, Disallowed, Robots, Rules, Unavailable
from tidemill.pipeline.ports import WireFailure, WireResponse

pytestmark = pytest.mark.shows("B9")

ORIGIN = "https://www.example.org"


def is_allowed(robots_txt: str, path: str = "/agenda") -> bool:
    return isinstance(Rules(robots_txt, "Tidemill").judge(ORIGIN + path), Allowed)


class Host:
    """Answers with these, the last one for ever, and notes what was asked."""

    def __init__(self, *answers: WireResponse | WireFailure) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def get(self, url: str, _max_bytes: int) -> WireResponse | WireFailure:
        self.asked.append(url)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def says(body: str, code: int = 200) -> WireResponse:
    return WireResponse(status_code=code, headers={}, body=body.encode())


def test_grouped_agents_share_the_rules_below_them() -> None:
    grouped = "User-agent: Googlebot\nUser-agent: Tidemill\nUser-agent: Bingbot\nDisallow: /agenda"
    assert not is_allowed(grouped)
    assert is_allowed(grouped.replace("Tidemill", "Otherbot"))


def test_two_groups_for_us_are_read_as_one() -> None:
    assert not is_allowed(
        "User-agent: Tidemill\nDisallow: /a\n\nUser-agent: x\nDisallow:\n\nUser-agent: Tidemill\nAllow: /b"
    )


def test_the_longer_allow_wins_wherever_it_stands() -> None:
    for lines in ("Disallow: /\nAllow: /agenda", "Allow: /agenda\nDisallow: /"):
        assert is_allowed(f"User-agent: *\n{lines}")
        assert not is_allowed(f"User-agent: *\n{lines}", "/admin")


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("/*.pdf$", "/a/b.pdf", False),
        ("/*.pdf$", "/a/b.pdf?x=1", True),
        ("/*?sort=", "/agenda?sort=prijs", False),
        ("/agenda*week", "/agenda/2026/week", False),
        ("/agenda*week", "/agenda/2026/maand", True),
    ],
)
def test_wildcards_and_ends_are_understood(rule: str, path: str, *, allowed: bool) -> None:
    assert is_allowed(f"User-agent: *\nDisallow: {rule}", path) is allowed


async def test_robots_txt_is_asked_at_the_host_not_at_the_registrable_domain(clock: SettableClock) -> None:
    host, robots = Host(says("User-agent: *\nDisallow: /")), Robots(clock, "Tidemill")
    for page in ("https://www.example.org/a", "https://agenda.example.org/a", "http://www.example.org/a"):
        await robots.verdict_for(page, host.get)
    assert host.asked == [
        "https://www.example.org/robots.txt", "https://agenda.example.org/robots.txt", "http://www.example.org/robots.txt",
    ]  # fmt: skip


@pytest.mark.parametrize("code", [500, 502, 503, 401, 403, 429])
async def test_a_host_that_cannot_tell_is_closed_and_asked_again_soon(clock: SettableClock, code: int) -> None:
    host, robots = Host(says("", code)), Robots(clock, "Tidemill")
    verdict = await robots.verdict_for(ORIGIN + "/a", host.get)
    assert isinstance(verdict, Unavailable)
    assert len(host.asked) == 3
    assert verdict.until - clock.now() <= timedelta(minutes=5)
    clock.set(verdict.until)
    host.answers = [says("User-agent: *\nDisallow: /private")]
    assert isinstance(await robots.verdict_for(ORIGIN + "/a", host.get), Allowed)


@pytest.mark.parametrize("code", [404, 410, 400])
async def test_a_host_without_robots_txt_is_open(clock: SettableClock, code: int) -> None:
    host, robots = Host(says("not here", code)), Robots(clock, "Tidemill")
    assert isinstance(await robots.verdict_for(ORIGIN + "/a", host.get), Allowed)
    assert len(host.asked) == 1


async def test_a_failed_fetch_is_not_kept_for_a_day(clock: SettableClock) -> None:
    lost = WireFailure(failure=Failure.CONNECTION_LOST)
    host, robots = Host(lost, lost, lost, says("User-agent: *\nDisallow: /a")), Robots(clock, "Tidemill")
    assert isinstance(await robots.verdict_for(ORIGIN + "/a", host.get), Unavailable)
    clock.advance(timedelta(minutes=6))
    assert isinstance(await robots.verdict_for(ORIGIN + "/a", host.get), Disallowed)
