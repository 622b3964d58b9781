"""Plant one bug after the other in a copy of the sources, and show which test notices it.

    make mutants                      all of them
    make mutants ARGS="--only fence"  those of one kind

Each mutant names the tests that should fail; one that they pass has survived, and a test is missing.
"""
# ruff: noqa: E501 - lines of the sources, as they stand there

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Mutant(NamedTuple):
    """A planted bug: what stands in a file, what stands there instead, and the tests that should notice."""

    kind: str
    what: str
    file: str
    old: str
    new: str
    tests: str


CORE, LEDGER = "core", "store/ledger"
MUTANTS = (
    Mutant("fence", "a commit does not compare the fence", f"{LEDGER}/checkpoints.py",
           'for row in rows if row["fence"] == fences[row["id"]]}', "for row in rows}",
           "tests/contract/store/test_ledger.py"),
    Mutant("fence", "a claim does not raise the fence (SQLite)", f"{LEDGER}/claims_sql.py",
           "sqlite=\"UPDATE pipeline_jobs SET status = 'leased', fence = fence + 1,",
           "sqlite=\"UPDATE pipeline_jobs SET status = 'leased', fence = fence,",
           "tests/contract/store/test_ledger.py tests/contract/store/test_claims.py tests/contract/store/test_fences.py"),
    Mutant("fence", "letting go of a job does not raise the fence", f"{LEDGER}/effects_sql.py",
           "leased_by = NULL, fence = pipeline_jobs.fence + 1", "leased_by = NULL, fence = pipeline_jobs.fence",
           "tests/contract/store/test_ledger.py tests/contract/store/test_fences.py"),
    Mutant("rescue", "rescue does not raise the fence", f"{LEDGER}/workers.py",
           '"leased_by": None, "fence": jobs.c.fence + 1}', '"leased_by": None}',
           "tests/contract/store/test_ledger.py tests/contract/store/test_fences.py"),
    Mutant("rescue", "workers are never found dead", f"{LEDGER}/workers.py",
           '{"b_since": now - self._lease}', '{"b_since": now - 1_000 * self._lease}',
           "tests/contract/store/test_ledger.py tests/contract/store/test_claims.py"),
    Mutant("drop", "a group is dropped when the database is lost", "engine/writer.py",
           "            except StoreLost as trouble:\n                if pause",
           "            except StoreLost as trouble:\n                return Committed(frozenset())\n                if pause",
           "tests/integration/engine/test_turns.py tests/integration/hardship/test_ten_minutes_away.py"
           " tests/unit/engine"),
    Mutant("breaker", "a breaker never opens", f"{CORE}/breaker.py",
           "case Closed(failures=failures) if failures + 1 >= policy.threshold:",
           "case Closed(failures=failures) if failures > 10**9:", "tests/unit/core/test_breaker.py"),
    Mutant("breaker", "a failed probe does not double the wait", f"{CORE}/breaker.py",
           "return Open(now + policy.cooldown_after(trips), trips + 1)", "return Open(now + policy.cooldown_after(0), trips)",
           "tests/unit/core/test_breaker.py"),
    Mutant("breaker", "probes go out together", f"{CORE}/breaker.py",
           "if deadline is None or now >= deadline:", "if True:", "tests/unit/core/test_breaker.py"),
    Mutant("breaker", "one success closes it", f"{CORE}/breaker.py",
           "enough = successes + 1 >= policy.successes_to_close", "enough = True", "tests/unit/core/test_breaker.py"),
    Mutant("breaker", "success does not forget failures", f"{CORE}/breaker.py",
           "        case Closed():\n            return Closed()\n", "        case Closed():\n            return breaker\n",
           "tests/unit/core/test_breaker.py"),
    Mutant("retry", "one attempt more than allowed", f"{CORE}/retry.py",
           "if tries >= policy.attempts:", "if tries > policy.attempts:", "tests/unit/core/test_retry.py"),
    Mutant("retry", "Retry-After is ignored", f"{CORE}/retry.py",
           "return max(wait, min(retry_after, LONGEST_RETRY_AFTER))", "return wait", "tests/unit/core/test_retry.py"),
    Mutant("retry", "Retry-After is not cut", f"{CORE}/retry.py",
           "min(retry_after, LONGEST_RETRY_AFTER)", "retry_after", "tests/unit/core/test_retry.py"),
    Mutant("retry", "waits do not double", f"{CORE}/retry.py",
           "self.first * (1 << min(tries - 1, 20))", "self.first", "tests/unit/core/test_retry.py"),
    Mutant("pace", "one request more than is booked", f"{CORE}/pacing.py",
           "int(pace.burst - ahead + 1e-9)", "int(pace.burst - ahead + 1)", "tests/unit/core/test_pacing.py"),
    Mutant("pace", "requests under way are not counted", f"{CORE}/pacing.py",
           "room = max(0, pace.parallel - in_flight)", "room = pace.parallel", "tests/unit/core/test_pacing.py"),
    Mutant("pace", "Crawl-delay is ignored", f"{CORE}/pacing.py",
           "return Pace(delay, 1, pace.parallel) if delay > pace.interval else pace", "return pace",
           "tests/unit/core/test_pacing.py"),
    Mutant("pace", "hosts of one domain are paced apart", f"{CORE}/pacing.py",
           "return host if host in own else registrable_domain(host)", "return host", "tests/unit/core/test_pacing.py"),
    Mutant("robots", "everything is allowed", "fetching/robots.py",
           "if self._parsed.can_fetch(href, self._agent):", "if True:", "tests/unit/fetching/test_robots.py"),
    Mutant("robots", "a robots.txt that answers 503 allows everything", "fetching/robots.py",
           '        return self._unavailable(Failure.ROBOTS_DISALLOWED, f"robots.txt answered {code}")',
           '        return Rules("", self._agent)', "tests/unit/fetching/test_robots.py"),
    Mutant("robots", "a failure is kept for a day", "fetching/robots.py",
           "until = rules.until if isinstance(rules, Unavailable) else self._clock.now() + CACHED_FOR",
           "until = self._clock.now() + CACHED_FOR", "tests/unit/fetching/test_robots.py"),
    Mutant("robots", "what was said outlives its day over a restart", "store/services/robots_answers.py",
           "if row is not None and now < row.expires_at else None", "if row is not None else None",
           "tests/contract/store/test_robots_answers.py"),
    Mutant("completeness", "pages that failed raise no doubt", f"{CORE}/quality/completeness.py",
           "if answered >= expected and evidence.targets > 0:", "if evidence.targets > 0:", "tests/unit/core/quality"),
    Mutant("completeness", "truncated pages raise no doubt", f"{CORE}/quality/completeness.py",
           "if evidence.truncated_pages == 0:", "if evidence.truncated_pages >= 0:", "tests/unit/core/quality"),
    Mutant("completeness", "the site's own total is ignored", f"{CORE}/quality/completeness.py",
           "if evidence.claimed_total is None or evidence.records_seen >= evidence.claimed_total:", "if True:",
           "tests/unit/core/quality"),
    Mutant("completeness", "a list that is far too short is believed", f"{CORE}/quality/completeness.py",
           "if evidence.records_seen >= usual * SHORTFALL:", "if True:", "tests/unit/core/quality"),
    Mutant("gates", "a source that is switched off is fetched", f"{CORE}/gates.py",
           "    if not source.enabled:", "    if False:", "tests/unit/core tests/contract/store/test_claims.py"
           " tests/integration/engine/test_switched_off.py"),
    Mutant("gates", "terms that nobody approved are enough", f"{CORE}/gates.py",
           "if policy is not None and policy.needs_approval and not is_manual:", "if False:",
           "tests/unit/core tests/contract/store/test_claims.py"),
    Mutant("visibility", "confidence does not fall", f"{CORE}/freshness.py",
           "return max(0, start - rate * elapsed // MICROS_AN_HOUR)", "return start", "tests/unit/core/test_freshness.py"),
    Mutant("publish", "a portion is written over another's", "verticals/events/store/publishing.py",
           "            if await _read_state(connection) != before:\n                return False\n", "",
           "tests/contract/store/test_publishing.py"),
    Mutant("publish", "keys of a changed event stay", "verticals/events/store/candidate_rows.py",
           "    await write_each(connection, _DROP, list(", "    await write_each(connection, _DROP, [] and list(",
           "tests/contract/store/test_publishing.py"),
    Mutant("web", "bodies are not counted", "web/limits.py",
           "        if self._left >= 0 or self._refused:", "        if True:", "tests/integration/web/test_limits.py"),
    Mutant("web", "half a request is waited for", "web/limits.py",
           "            self.transport.abort()\n\n\ndef limited_protocol", "            pass\n\n\ndef limited_protocol",
           "tests/integration/web/test_limits.py"),
    Mutant("web", "served to others without a token", "web/limits.py",
           "    if has_credentials or (", "    if True or (", "tests/integration/web/test_limits.py"),
    Mutant("web", "any name reaches us", "web/guard.py",
           "return self._allowed is None or (", "return True or (", "tests/integration/web/test_pages.py"),
    Mutant("reading", "an unclosed string is looked for again from each quote", "reading/embedded_json.py",
           r"""(?:"|\\?\Z)|[\[{\]}]""", r""""|[\[{\]}]""", "tests/unit/reading/test_linear.py"),
    Mutant("reading", "items by itemref without an end", "reading/microdata.py",
           "while pending and self._elements_left > 0:", "while pending:", "tests/unit/reading/test_linear.py"),
    Mutant("robots", "any number of rules is held against each address", "fetching/robots.py",
           "if rules > MOST_RULES:", "if False:", "tests/unit/fetching/test_robots.py"),
    Mutant("reading", "compounds of a description are known by their beginning alone", "verticals/events/categories.py",
           "or word[-_SHORTEST_INSIDE:] in _CLOSINGS", "or False", "tests/unit/verticals/events/test_categories.py"),
)  # fmt: skip


def main() -> None:
    """Print a line for each mutant; ends with 1 if any survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="A kind, or words of a mutant's description.")
    asked = parser.parse_args()
    chosen = [each for each in MUTANTS if asked.only in {"", each.kind} or asked.only in each.what]
    survivors = 0
    print("| kind | planted bug | noticed by |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tidemill"
        for name in ("src", "tests", "docs", "tools", "benchmarks"):
            shutil.copytree(ROOT / name, copy / name)
        for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
            shutil.copy(ROOT / name, copy / name)
        for mutant in chosen:
            noticed = trial(mutant, copy)
            survivors += not noticed
            print(f"| {mutant.kind} | {mutant.what} | {noticed or '**survived**'} |", flush=True)
    sys.exit(1 if survivors else 0)


def trial(mutant: Mutant, copy: Path) -> str:
    """Plant the bug, run its tests, take it out again; answers the first test that failed, '' if none did."""
    file = copy / "src" / "tidemill" / mutant.file
    sources = file.read_text()
    if sources.count(mutant.old) != 1:
        sys.exit(
            f"{mutant.what}: {mutant.old!r} stands {sources.count(mutant.old)} times in {mutant.file}; mend the mutant"
        )
    file.write_text(sources.replace(mutant.old, mutant.new))
    try:
        failed = first_failure(mutant.tests.split(), copy)
    finally:
        file.write_text(sources)
    if "::" not in failed:
        return failed
    if first_failure([failed], copy):
        sys.exit(f"{failed} fails without the bug too; mend it first")
    return f"`{failed.rpartition('::')[2]}`"


def first_failure(tests: list[str], copy: Path) -> str:
    """Run the tests on the copy; answers the first that failed, or why they could not run; '' if all passed."""
    inherited = dict(os.environ)  # noqa: TID251 - a tool of its own: what it starts has its environment
    environment = {**inherited, "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy / 'tests'}", "TEST_DATABASE": "sqlite"}
    there = [each for each in tests if (copy / each.partition("::")[0]).exists()]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *there]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
    except subprocess.TimeoutExpired:
        return "a time-out"
    if done.returncode == 0:
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].partition(" ")[2].partition(" - ")[0] if failed else f"pytest ended with {done.returncode}"


if __name__ == "__main__":
    main()
