"""What a host's robots.txt allows, fetched once a day and never guessed."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Protocol

import msgspec
from protego import Protego

from tidemill.core.failure import Failure
from tidemill.core.urls import origin_of
from tidemill.pipeline.ports import Clock, WireFailure, WireResponse

CACHED_FOR = timedelta(hours=24)
RETRIED_AFTER = timedelta(minutes=5)  # a robots.txt we could not get is asked for again soon
LONGEST_BACKOFF = timedelta(hours=1)  # but a host that stays unwell is asked less and less often
TRIES = 3
BETWEEN_TRIES = timedelta(seconds=1)
MAX_BYTES = 500_000  # bytes; what stands beyond them is not read
MOST_RULES = 5_000
"""Rules that concern us: each is held against every address, a few microseconds long, where the event loop runs."""
MOST_CHARACTERS = 5_000_000
"""Characters that rules with a `*` are held against for one address, its length for each rule: some 10 ms."""
HOSTS_REMEMBERED = 10_000

_AGENT_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
_USER_AGENT = frozenset({"user-agent", "useragent", "user agent"})
_DISALLOW = frozenset({"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"})
_DIRECTIVES = _USER_AGENT | _DISALLOW | {"allow", "crawl-delay", "crawl delay"}
_OTHER_AGENT = "-"  # a token that ours can never contain

# A person must look at these, so they are reported as they are and not as a robots.txt that blocks.
_REPORTED_UNCHANGED = frozenset({Failure.DNS_FAILED, Failure.TLS_FAILED, Failure.ADDRESS_REFUSED, Failure.BAD_URL})
_REFUSAL_CODES = frozenset({401, 403, 429})


class Allowed(msgspec.Struct, frozen=True):
    """The page may be requested, no faster than `crawl_delay` if there is one."""

    crawl_delay: timedelta | None = None


class Disallowed(msgspec.Struct, frozen=True):
    """The page may not be requested, by this rule."""

    rule: str


class Unavailable(msgspec.Struct, frozen=True):
    """The rules are unknown, so nothing may be requested before `until` (fail closed)."""

    until: datetime
    failure: Failure
    detail: str
    retry_wait: timedelta = RETRIED_AFTER


RobotsVerdict = Allowed | Disallowed | Unavailable
GetRobots = Callable[[str, int], Awaitable[WireResponse | WireFailure]]


class RobotsMemory(Protocol):
    """Where robots.txt files outlive the process; what is not known, or cannot be asked, is None."""

    async def recall(self, origin: str, now: datetime) -> tuple[str, datetime] | None:
        """Return an origin's robots.txt and until when it holds, if it still does."""
        ...

    async def keep(self, origin: str, text: str, until: datetime) -> None:
        """Keep an origin's robots.txt until then."""
        ...


class Rules:
    """The part of a robots.txt that applies to us."""

    def __init__(self, text: str, agent: str) -> None:
        """Parse `text` for the product token `agent`: the groups that name it, or else those for everyone."""
        self.text = text
        self._agent = agent.partition("/")[0]
        kept = list(_our_groups(_lines_for(text.removeprefix("\ufeff"), self._agent)))
        rules = sum(line.startswith(("allow: ", "disallow: ")) for line in kept)
        if rules > MOST_RULES:  # fail closed: nobody knows which of them matter
            kept = ["user-agent: *", "disallow: /"]
        said = f"its robots.txt has {rules} rules for us, and {MOST_RULES} are followed"
        self._too_many = said if rules > MOST_RULES else ""
        self._parsed = Protego.parse("\n".join(kept))
        self._disallows = [rule for line in kept if line.startswith("disallow: ") and (rule := line[10:].strip())]
        self._prefixes, self._needles = _path_filters(self._disallows)
        self._wildcards = sum("*" in line for line in kept if line.startswith(("allow: ", "disallow: ")))
        delay = self._parsed.crawl_delay(self._agent)
        self._allowed = Allowed(None if delay is None else timedelta(seconds=min(delay, 3600)))

    def judge(self, href: str) -> Allowed | Disallowed:
        """Return whether this address may be requested: the longest rule that fits decides, and Allow wins a tie."""
        if not self._disallows:
            return self._allowed
        if self._wildcards * len(href) > MOST_CHARACTERS:  # fail closed: matching them would hold everybody up
            return Disallowed(f"{self._wildcards} rules with a * are too many for an address of {len(href)} characters")
        if not self._may_be_disallowed(href):
            return self._allowed
        if not href.isascii():  # rules match addresses as they are sent, and this is not one
            href = href.encode("ascii", "backslashreplace").decode("ascii")
        if self._parsed.can_fetch(href, self._agent):
            return self._allowed
        return Disallowed(self._rule_against(href))

    def _may_be_disallowed(self, href: str) -> bool:
        """Whether any Disallow could fit: a quick test that spares most pages the full match and misses none."""
        start = href.find("/", 8)
        path = href[start:] if start > 0 else "/"
        if "%" in path or path.startswith(self._prefixes) or not path.isascii():
            return True
        for needle in self._needles:  # noqa: SIM110 - any() costs a generator for every page
            if needle in path:
                return True
        return False

    def _rule_against(self, href: str) -> str:
        if self._too_many:
            return self._too_many
        longest_first = sorted(self._disallows, key=len, reverse=True)
        fitting = (rule for rule in longest_first if not _single_rule(rule).can_fetch(href, self._agent))
        return f"Disallow: {next(fitting, longest_first[0])}"


def _path_filters(disallows: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a disallowed path must start with, or else contain, one string for each rule."""
    prefixes, needles = ["//"], []  # some parsers read a path that starts with two slashes as a host
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

    def __init__(self, clock: Clock, agent: str, memory: RobotsMemory | None = None) -> None:
        """`agent` is our product token, such as `Tidemill`; a version after a slash is cut off.

        `memory` keeps what was answered over restarts; what could not be got is never kept.
        """
        self._clock = clock
        self._memory = memory
        self._agent = agent
        self._cached: dict[str, tuple[datetime, Rules | Unavailable]] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    def cached_verdict(self, href: str) -> RobotsVerdict | None:
        """Return the verdict on this address from the cache; None when its host's rules are not there."""
        known = self._cached.get(origin_of(href))
        if known is None or self._clock.now() >= known[0]:
            return None
        return _verdict(known[1], href)

    def allows_subrequest(self, href: str) -> bool:
        """Whether a page may request this address by itself: yes, unless cached rules disallow it."""
        return not isinstance(self.cached_verdict(href), Disallowed)

    async def verdict_for(self, href: str, get_robots: GetRobots) -> RobotsVerdict:
        """Return what the robots.txt of this address's origin says about it; `get_robots` fetches that file."""
        origin = origin_of(href)
        async with self._locks.setdefault(origin, asyncio.Lock()):
            verdict = self.cached_verdict(href)  # the caller that held the lock before may have fetched it
            if verdict is None:
                verdict = _verdict(await self._recalled(origin) or await self._asked(origin, get_robots), href)
        self._locks.pop(origin, None)
        return verdict

    async def _recalled(self, origin: str) -> Rules | None:
        """Return the rules that an earlier process was told less than a day ago."""
        if self._memory is None or origin in self._cached:
            return None
        known = await self._memory.recall(origin, self._clock.now())
        if known is None:
            return None
        rules = Rules(known[0], self._agent)
        self._cache(origin, rules, known[1])
        return rules

    async def _asked(self, origin: str, get_robots: GetRobots) -> Rules | Unavailable:
        rules = self._with_backoff(origin, await self._fetch(origin, get_robots))
        until = rules.until if isinstance(rules, Unavailable) else self._clock.now() + CACHED_FOR
        self._cache(origin, rules, until)
        if self._memory is not None and isinstance(rules, Rules):
            await self._memory.keep(origin, rules.text, until)
        return rules

    def _with_backoff(self, origin: str, rules: Rules | Unavailable) -> Rules | Unavailable:
        """Return the rules; if they are unavailable again, with twice the wait of last time."""
        before = self._cached.get(origin)
        if not isinstance(rules, Unavailable) or before is None or not isinstance(before[1], Unavailable):
            return rules
        retry_wait = min(LONGEST_BACKOFF, before[1].retry_wait * 2)
        return msgspec.structs.replace(rules, until=self._clock.now() + retry_wait, retry_wait=retry_wait)

    def _cache(self, origin: str, rules: Rules | Unavailable, until: datetime) -> None:
        now = self._clock.now()
        if len(self._cached) >= HOSTS_REMEMBERED:
            self._cached = {name: known for name, known in self._cached.items() if now < known[0]}
        if len(self._cached) >= HOSTS_REMEMBERED:
            del self._cached[next(iter(self._cached))]
        self._cached[origin] = (until, rules)

    async def _fetch(self, origin: str, get_robots: GetRobots) -> Rules | Unavailable:
        rules = self._read(await get_robots(f"{origin}/robots.txt", MAX_BYTES))
        for _ in range(TRIES - 1):
            if isinstance(rules, Rules) or rules.failure in _REPORTED_UNCHANGED:
                break
            await self._clock.sleep_until(self._clock.now() + BETWEEN_TRIES)
            rules = self._read(await get_robots(f"{origin}/robots.txt", MAX_BYTES))
        return rules

    def _read(self, answer: WireResponse | WireFailure) -> Rules | Unavailable:
        if isinstance(answer, WireFailure):
            return self._unavailable(answer.failure, answer.detail)
        if answer.cut not in {None, Failure.TOO_LARGE}:
            return self._unavailable(Failure.ROBOTS_DISALLOWED, f"robots.txt came cut short ({answer.cut})")
        code = answer.status_code
        if 200 <= code < 300:  # noqa: PLR2004 - the codes are the standard's
            return Rules(answer.body.decode("utf-8", "replace"), self._agent)
        if 400 <= code < 500 and code not in _REFUSAL_CODES:  # noqa: PLR2004
            return Rules("", self._agent)
        return self._unavailable(Failure.ROBOTS_DISALLOWED, f"robots.txt answered {code}")

    def _unavailable(self, failure: Failure, detail: str) -> Unavailable:
        reported = failure if failure in _REPORTED_UNCHANGED else Failure.ROBOTS_DISALLOWED
        return Unavailable(self._clock.now() + RETRIED_AFTER, reported, detail)


def _verdict(rules: Rules | Unavailable, href: str) -> RobotsVerdict:
    return rules if isinstance(rules, Unavailable) else rules.judge(href)


def _lines_for(text: str, token: str) -> list[str]:
    """Return the lines that can concern us, in one spelling; agents are ours, everyone (`*`) or someone else.

    Lines that no standard knows are left out: they must not end a group.
    """
    lines = []
    for line in re.split(r"[\r\n]+", text):
        name, value = _directive(line.partition("#")[0])
        if name in _USER_AGENT:
            lines.append(f"user-agent: {_agent_of_group(value, token)}")
        elif name in _DISALLOW:
            lines.append(f"disallow: {value}")
        elif name:
            lines.append(f"{name}: {value}")
    return lines


def _our_groups(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of groups that name us or everyone; others are not parsed, however many there are."""
    agents: list[str] = []
    has_rules = False
    for line in lines:
        if line.startswith("user-agent: "):
            if has_rules:
                agents, has_rules = [], False
            agents.append(line)
            continue
        concerns_us = any(agent.removeprefix("user-agent: ") != _OTHER_AGENT for agent in agents)
        if concerns_us and not has_rules:
            yield from dict.fromkeys(agents)
        has_rules = True
        if concerns_us:
            yield line


def _directive(line: str) -> tuple[str, str]:
    """Return a line's directive and value; the colon may be missing, as in real files."""
    name, colon, value = line.partition(":")
    if colon and (known := name.strip().lower()) in _DIRECTIVES:
        return known, value.strip()
    name, _, value = line.strip().partition(" ")
    return (name.lower(), value.strip()) if name.lower() in _DIRECTIVES else ("", "")


def _agent_of_group(agent: str, token: str) -> str:
    if agent == "*" or agent.startswith("* "):
        return "*"
    named = _AGENT_TOKEN.match(agent)
    return token if named is not None and named[0].lower() == token.lower() else _OTHER_AGENT


def _single_rule(rule: str) -> Protego:
    return Protego.parse(f"user-agent: *\ndisallow: {rule}")
