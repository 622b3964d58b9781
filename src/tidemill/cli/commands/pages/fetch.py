"""`tidemill fetch`."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tidemill.cli.page_loading import Attempt, attempt_fetch
from tidemill.cli.system_opening import settings_of
from tidemill.core.failure import MEANING, Failure
from tidemill.operations.why.work import meaning_in_words
from tidemill.terminal.counting import counted
from tidemill.terminal.exit_codes import FAILURE
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_facts, print_json, print_table

app = single_command()

HINTS = {
    Failure.ADDRESS_REFUSED: "private and local addresses are not asked; allow_networks names those that may be",
    Failure.ROBOTS_DISALLOWED: "the site's robots.txt asks us to leave this alone, and we do",
    Failure.TOO_LARGE: "the page is larger than we take; only its beginning was read",
}
"""What a person should know about a refusal."""


class GateLine(msgspec.Struct, frozen=True):
    """One gate's answer."""

    gate: str
    verdict: str
    words: str
    until: datetime | None


class FetchReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a fetch, as `fetch` shows it."""

    url: str
    final_url: str
    status: str
    status_code: int
    milliseconds: int
    requests: int
    bytes_on_the_wire: int
    bytes: int
    encoding: str
    content_type: str
    charset: str
    crawl_delay_seconds: float | None
    retry_after_seconds: float | None
    failure: str | None
    error: str
    meaning: str
    hint: str
    fetcher: str
    gates: list[GateLine]
    headers: dict[str, str]


@app.command()
def fetch(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="The page's address.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the page's content here.")] = None,
    *,
    browser: Annotated[bool, typer.Option("--browser", help="Get it in a browser, whatever its source says.")] = False,
    body: Annotated[bool, typer.Option("--body", help="Print the page's content instead of the facts.")] = False,
    json: AsJson = False,
) -> None:
    """Fetch one page through every gate and tell what came back.

    Compliance, robots.txt, the pace and the address guard hold as in a run, and the request counts; the switches and
    the breaker are shown and hold back jobs alone. A page of a source that uses a browser is got in one; nothing is
    paid for, and nothing is stored.
    """
    attempt = run(attempt_fetch(settings_of(ctx), url, browser=browser))
    result = attempt.result
    if output is not None:
        output.write_bytes(result.body)
    if body:
        sys.stdout.buffer.write(result.body)
    elif json:
        print_json(report_of(attempt))
    else:
        show(report_of(attempt))
    raise typer.Exit(FAILURE if result.failure is not None else 0)


def report_of(attempt: Attempt) -> FetchReport:
    """Return the report of an attempt."""
    result = attempt.result
    failure = result.failure
    return FetchReport(
        url=result.url,
        final_url=result.final_url,
        status=result.status.value,
        status_code=result.status_code,
        milliseconds=round(result.duration.total_seconds() * 1000),
        requests=result.requests,
        bytes_on_the_wire=len(result.wire_body),
        bytes=len(result.body),
        encoding=result.content_encoding,
        content_type=result.content_type,
        charset=result.charset,
        crawl_delay_seconds=result.crawl_delay.total_seconds() if result.crawl_delay else None,
        retry_after_seconds=result.retry_after.total_seconds() if result.retry_after else None,
        failure=failure,
        error=result.error,
        meaning=meaning_in_words(MEANING[failure]) if failure else "",
        hint=HINTS.get(failure, "") if failure else "",
        fetcher=result.fetcher,
        gates=[GateLine(one.gate, one.verdict, one.words, one.until) for one in attempt.gates],
        headers=dict(result.headers),
    )


def show(one: FetchReport) -> None:
    """Show the gates in order, then the result; empty values are left out."""
    rows = [(said.gate, said.verdict, said.words, said.until) for said in one.gates]
    print_table("gates", ["gate", "says", "why", "until"], rows)
    packed = f", {one.encoding}" if one.encoding else ""
    values = {
        "status": f"{one.status} {one.status_code or ''}".strip(),
        "failure": one.failure,
        "error": one.error,
        "what that means": one.meaning,
        "hint": one.hint,
        "final address": one.final_url,
        "took": f"{one.milliseconds} ms, {counted(one.requests, 'request')}",
        "size": f"{one.bytes:,} bytes ({one.bytes_on_the_wire:,} on the wire{packed})",
        "type": f"{one.content_type}, read as {one.charset}",
        "crawl delay": one.crawl_delay_seconds,
        "retry after": one.retry_after_seconds,
    }
    print_facts(one.url, {name: value for name, value in values.items() if value not in (None, "")})
