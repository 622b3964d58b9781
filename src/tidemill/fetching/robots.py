"""What a host's robots.txt lets us do, asked once a day and never guessed."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import msgspec
from protego import Protego

from tidemill.core.failure import Failure
from tidemill.core.urls import origin_of
from tidemill.pipeline.ports import Clock, WireFailure, WireResponse

KEPT_FOR = timedelta(hours=24)
RETRIED_AFTER = timedelta(minutes=5)  # a robots.txt we could not get is asked for again soon, not tomorrow
LONGEST_REST = timedelta(hours=1)  # but a host that stays unwell is asked less and less often
TRIES = 3
BETWEEN_TRIES = timedelta(seconds=1)
LARGEST = 500_000  # bytes; what stands beyond them is not read
HOSTS_REMEMBERED = 10_000

_AGENT_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
_USER_AGENT = frozenset({"user-agent", "useragent", "user agent"})
_DISALLOW = frozenset({"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"})
_UNDERSTOOD = _USER_AGENT | _DISALLOW | {"allow", "crawl-delay", "crawl delay"}
_SOMEONE_ELSE = "-"  # a token that ours can never contain

# These mean that a person must look, so they are told as they are and not as a robots.txt that blocks.
_TOLD_AS_THEY_ARE = frozenset({Failure.DNS_FAILED, Failure.TLS_FAILED, Failure.ADDRESS_REFUSED, Failure.BAD_URL})
_CLOSED_CODES = frozenset({401, 403, 429})


class Allowed(msgspec.Struct, frozen=True):
    """The page may be asked for, no faster than `crawl_delay` if there is one."""

    crawl_delay: timedelta | None = None


class Disallowed(msgspec.Struct, frozen=True):
    """The page is out of bounds, by this rule."""

    rule: str


class Unavailable(msgspec.Struct, frozen=True):
    """Nobody knows what is allowed, so nothing is, before `until` (fail closed)."""

    until: datetime
    failure: Failure
    detail: str
    rest: timedelta = RETRIED_AFTER


Verdict = Allowed | Disallowed | Unavailable
Get = Callable[[str, int], Awaitable[WireResponse | WireFailure]]


class Rules:
    """The part of a robots.txt that is for us."""

    def __init__(self, text: str, agent: str) -> None:
        """Read `text` for the product token `agent`: the groups that name it, or else those for everyone."""
        self._agent = agent.partition("/")[0]
        kept = _lines_for(text.removeprefix("\ufeff"), self._agent)
        self._parsed = Protego.parse("\n".join(kept))
        self._disallows = [rule for line in kept if line.startswith("disallow: ") and (rule := line[10:].strip())]
        self._prefixes, self._needles = _signs_of(self._disallows)
        delay = self._parsed.crawl_delay(self._agent)
        self._allowed = Allowed(None if delay is None else timedelta(seconds=min(delay, 3600)))

    def judge(self, href: str) -> Allowed | Disallowed:
        """May this address be asked for? The longest rule that fits decides, and Allow wins a tie."""
        if not self._disallows or not self._shows_a_sign(href):
            return self._allowed
        if not href.isascii():  # rules are for addresses as they are sent; this is not one, so it fits none by chance
            href = href.encode("ascii", "backslashreplace").decode("ascii")
        if self._parsed.can_fetch(href, self._agent):
            return self._allowed
        return Disallowed(self._rule_against(href))

    def _shows_a_sign(self, href: str) -> bool:
        """Could any Disallow fit? A quick look that spares most pages the full match and never says no wrongly."""
        start = href.find("/", 8)
        path = href[start:] if start > 0 else "/"
        if "%" in path or path.startswith(self._prefixes) or not path.isascii():
            return True
        for needle in self._needles:  # noqa: SIM110 - any() costs a generator for every page
            if needle in path:
                return True
        return False

    def _rule_against(self, href: str) -> str:
        longest_first = sorted(self._disallows, key=len, reverse=True)
        fitting = (rule for rule in longest_first if not _alone(rule).can_fetch(href, self._agent))
        return f"Disallow: {next(fitting, longest_first[0])}"


def _signs_of(disallows: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the path of a disallowed page must start with, or else hold, one sign for each rule."""
    prefixes, needles = ["//"], []  # a path that starts with two slashes reads as a host to some
    for rule in disallows:
        literals = rule.partition("$")[0].split("*")
        if "%" in rule or not rule.isascii():
            prefixes.append("/")
        elif len(literals) == 1:
            prefixes.append(literals[0])
        else:
            needles.append(max(literals, key=len))
    return tuple(prefixes), tuple(needles)


class Robots:
    """Every host's rules, each fetched once a day, by one caller at a time."""

    def __init__(self, clock: Clock, agent: str) -> None:
        """`agent` is our product token, such as `Tidemill`; a version after a slash is cut off."""
        self._clock = clock
        self._agent = agent
        self._known: dict[str, tuple[datetime, Rules | Unavailable]] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    def recall(self, href: str) -> Verdict | None:
        """What is known about this address without asking anyone; None when its host's rules are not."""
        known = self._known.get(origin_of(href))
        if known is None or self._clock.now() >= known[0]:
            return None
        return _judged(known[1], href)

    def allows_subrequest(self, href: str) -> bool:
        """Whether a page may ask for this address by itself: yes, unless rules that are known say no."""
        return not isinstance(self.recall(href), Disallowed)

    async def ask(self, href: str, get: Get) -> Verdict:
        """What the host (scheme, name and port) of this address says about it; `get` fetches its robots.txt."""
        origin = origin_of(href)
        async with self._asking.setdefault(origin, asyncio.Lock()):
            verdict = self.recall(href)  # the one before us may have fetched it
            if verdict is None:
                rules = self._rested(origin, await self._fetch(origin, get))
                self._remember(origin, rules)
                verdict = _judged(rules, href)
        self._asking.pop(origin, None)
        return verdict

    def _rested(self, origin: str, rules: Rules | Unavailable) -> Rules | Unavailable:
        """Twice the rest of last time for a host that could not tell its rules then either."""
        before = self._known.get(origin)
        if not isinstance(rules, Unavailable) or before is None or not isinstance(before[1], Unavailable):
            return rules
        rest = min(LONGEST_REST, before[1].rest * 2)
        return msgspec.structs.replace(rules, until=self._clock.now() + rest, rest=rest)

    def _remember(self, origin: str, rules: Rules | Unavailable) -> None:
        now = self._clock.now()
        if len(self._known) >= HOSTS_REMEMBERED:
            self._known = {name: known for name, known in self._known.items() if now < known[0]}
        if len(self._known) >= HOSTS_REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[origin] = (rules.until if isinstance(rules, Unavailable) else now + KEPT_FOR, rules)

    async def _fetch(self, origin: str, get: Get) -> Rules | Unavailable:
        learned = self._read(await get(f"{origin}/robots.txt", LARGEST))
        for _ in range(TRIES - 1):
            if isinstance(learned, Rules) or learned.failure in _TOLD_AS_THEY_ARE:
                break
            await self._clock.sleep_until(self._clock.now() + BETWEEN_TRIES)
            learned = self._read(await get(f"{origin}/robots.txt", LARGEST))
        return learned

    def _read(self, answer: WireResponse | WireFailure) -> Rules | Unavailable:
        if isinstance(answer, WireFailure):
            return self._closed(answer.failure, answer.detail)
        if answer.cut not in {None, Failure.TOO_LARGE}:
            return self._closed(Failure.ROBOTS_DISALLOWED, f"robots.txt came cut short ({answer.cut})")
        code = answer.status_code
        if 200 <= code < 300:  # noqa: PLR2004 - the codes are the standard's
            return Rules(answer.body.decode("utf-8", "replace"), self._agent)
        if 400 <= code < 500 and code not in _CLOSED_CODES:  # noqa: PLR2004
            return Rules("", self._agent)
        return self._closed(Failure.ROBOTS_DISALLOWED, f"robots.txt answered {code}")

    def _closed(self, failure: Failure, detail: str) -> Unavailable:
        told = failure if failure in _TOLD_AS_THEY_ARE else Failure.ROBOTS_DISALLOWED
        return Unavailable(self._clock.now() + RETRIED_AFTER, told, detail)


def _judged(rules: Rules | Unavailable, href: str) -> Verdict:
    return rules if isinstance(rules, Unavailable) else rules.judge(href)


def _lines_for(text: str, token: str) -> list[str]:
    """The lines that can concern us, in one spelling; agents are ours, everyone (`*`) or someone else.

    Lines that no standard knows are left out: they must not end a group.
    """
    lines = []
    for line in re.split(r"[\r\n]+", text):
        name, value = _directive(line.partition("#")[0])
        if name in _USER_AGENT:
            lines.append(f"user-agent: {_whose(value, token)}")
        elif name in _DISALLOW:
            lines.append(f"disallow: {value}")
        elif name:
            lines.append(f"{name}: {value}")
    return lines


def _directive(line: str) -> tuple[str, str]:
    """A line's directive and value; the colon may be missing, as real files have it."""
    name, colon, value = line.partition(":")
    if colon and (known := name.strip().lower()) in _UNDERSTOOD:
        return known, value.strip()
    name, _, value = line.strip().partition(" ")
    return (name.lower(), value.strip()) if name.lower() in _UNDERSTOOD else ("", "")


def _whose(agent: str, token: str) -> str:
    if agent == "*" or agent.startswith("* "):
        return "*"
    named = _AGENT_TOKEN.match(agent)
    return token if named is not None and named[0].lower() == token.lower() else _SOMEONE_ELSE


def _alone(rule: str) -> Protego:
    return Protego.parse(f"user-agent: *\ndisallow: {rule}")
