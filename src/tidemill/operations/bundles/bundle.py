"""The bundle of a dead letter: a zip with the page, the settings and the failure that reading it must give again.

Secrets stay behind: the values of request headers and of settings that look like keys are masked, wherever they stand.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

import msgspec

from tidemill import __version__
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.source import Source
from tidemill.core.vertical import Vertical
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.page_reading import PageTask, read_page

FACTS, BODY, HEADERS, README = "bundle.json", "page.bin", "headers.json", "README.txt"
LARGEST_BODY, LARGEST_FACTS = 100_000_000, 5_000_000
MASK = "***"
SHORTEST_SECRET = 6
"""Shorter values are masked where they are known to stand, but not looked for in pages: they would be everywhere."""
SECRET_WORDS = ("key", "token", "secret", "password", "passwd", "auth", "cookie", "session", "credential", "signature")
MOST_PARAMETERS = 1_000
_PARAMETER = re.compile(r"[?&;]([\w.-]{1,60})=([^&;\s\"'<>#]{6,2000})")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_README = """This is a dead letter of Tidemill as a failing test.

    tidemill check {name}

reads page.bin with the adapter named in bundle.json, offline, and tells whether it still fails in the same way:
exit code 1 while it does (or fails otherwise), 0 once the page is read. Values of headers and keys are masked.
"""


class BundleFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle says of its dead letter; the page's body is beside it."""

    format: int = 1
    tidemill: str = __version__
    letter: int
    stage: str
    failure: str
    message: str
    vertical: str
    adapter: str
    adapter_version: str
    source: Source
    parameters: Mapping[str, str]
    page_number: int
    page: Page


class CheckedBundle(msgspec.Struct, frozen=True, kw_only=True):
    """What reading a bundle's page gives now; `found` is '' when it is read, and `records` how many."""

    letter: int
    adapter: str
    version_then: str
    version_now: str
    expected: str
    found: str
    detail: str
    records: int

    @property
    def fails_the_same_way(self) -> bool:
        """Whether the failure is the letter's."""
        return self.found == self.expected

    @property
    def words(self) -> str:
        """What came of it, in a sentence."""
        if not self.found:
            return f"reads well now: {self.records} records; it failed with {self.expected}"
        if self.fails_the_same_way:
            return f"fails the same way: {self.found}: {self.detail}"
        return f"fails otherwise: {self.found}: {self.detail}; it failed with {self.expected}"


def write_bundle(facts: BundleFacts) -> bytes:
    """Return the bundle as a zip; the same dead letter gives the same bytes."""
    body, cleaned = masked_body(facts), without_secrets(facts)
    page = cleaned.page
    headers = {"content-type": page.content_type, "etag": page.etag, "last-modified": page.last_modified}
    told = {"status": page.status_code, **{name: value for name, value in headers.items() if value}}
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        files = {
            README: _README.format(name=file_name(facts.letter)).encode(),
            FACTS: msgspec.json.format(msgspec.json.encode(cleaned), indent=2),
            HEADERS: msgspec.json.format(msgspec.json.encode(told), indent=2),
            BODY: body,
        }
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def file_name(letter: int) -> str:
    """Return what the bundle of a letter is called."""
    return f"dead-letter-{letter}.zip"


def read_bundle(content: bytes) -> BundleFacts:
    """Return what a bundle holds; raise `Mistake` for one that is none, or larger than any of ours."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            facts = msgspec.json.decode(_file(archive, FACTS, LARGEST_FACTS), type=BundleFacts)
            body = _file(archive, BODY, LARGEST_BODY)
    except (zipfile.BadZipFile, KeyError, msgspec.DecodeError, NotImplementedError, RuntimeError) as error:
        msg = f"this is no bundle of a dead letter ({error}); `tidemill dlq bundle ID` makes one"
        raise Mistake(msg) from error
    return msgspec.structs.replace(facts, page=msgspec.structs.replace(facts.page, body=body))


def _file(archive: zipfile.ZipFile, name: str, largest: int) -> bytes:
    """Return a file of the archive, read no further than it may be large: the size in its header may lie."""
    with archive.open(name) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        msg = f"{name} in this bundle is larger than {largest} bytes"
        raise Mistake(msg)
    return content


def check_bundle(facts: BundleFacts, verticals: Mapping[str, Vertical]) -> CheckedBundle:
    """Read the bundle's page as its job did, offline, and return what comes of it."""
    task = PageTask(facts.vertical, facts.adapter, facts.source, facts.parameters, facts.page, facts.page_number)
    vertical = verticals.get(facts.vertical)
    adapter = None if vertical is None else vertical.adapters.get(facts.adapter)
    result = read_page(task, verticals)
    failed = result if isinstance(result, Fail) else None
    return CheckedBundle(
        letter=facts.letter,
        adapter=facts.adapter,
        version_then=facts.adapter_version,
        version_now="" if adapter is None else adapter.version,
        expected=facts.failure,
        found="" if failed is None else failure_name(failed, vertical, facts),
        detail="" if failed is None else failed.detail,
        records=0 if isinstance(result, Fail) else len(result.verdicts.accepted) + len(result.verdicts.rejected),
    )


def failure_name(failed: Fail, vertical: Vertical | None, facts: BundleFacts) -> str:
    """Return the failure by the name that the letter used: the general one, or the vertical's own."""
    own = None if vertical is None else vertical.name_failure(failed.failure, failed.detail)
    return str(own) if own is not None and str(own) == facts.failure else str(failed.failure)


def without_secrets(facts: BundleFacts) -> BundleFacts:
    """Return the facts with every secret masked, and without the body, which stands in a file of its own."""
    source = msgspec.structs.replace(
        facts.source,
        headers=dict.fromkeys(facts.source.headers, MASK),
        adapter_settings=_masked(facts.source.adapter_settings),
        trust=_masked(facts.source.trust),
        tos_approved_by=None,
    )
    plain = msgspec.structs.replace(facts, source=source, page=msgspec.structs.replace(facts.page, body=b""))
    encoded = msgspec.json.encode(plain)
    for secret in secrets_of(facts):
        written = msgspec.json.encode(secret)[1:-1]
        encoded = encoded.replace(written, MASK.encode())
    return msgspec.json.decode(encoded, type=BundleFacts)


def masked_body(facts: BundleFacts) -> bytes:
    """Return the page's bytes with the secrets masked that it repeats, such as a key in its own address."""
    body = facts.page.body
    for secret in secrets_of(facts):
        body = body.replace(secret.encode(), MASK.encode())
    return body


def secrets_of(facts: BundleFacts) -> list[str]:
    """Return the values that must not leave, the longest first."""
    values = {*facts.source.headers.values(), *_secret_values(facts.source.adapter_settings)}
    values |= set(_secret_values(facts.source.trust))
    values |= _secret_parameters(facts.page.url, facts.page.final_url, facts.page.body.decode("latin-1"))
    words = {word for value in values for word in (value, *value.split())}
    return sorted((word for word in words if len(word) >= SHORTEST_SECRET), key=lambda word: (-len(word), word))


def _secret_parameters(*texts: str) -> set[str]:
    """Return the values of parameters in addresses, wherever one stands, whose names look like keys."""
    found: set[str] = set()
    for text in texts:
        for name, value in _PARAMETER.findall(text):
            if _is_secret(name) and len(found) < MOST_PARAMETERS:
                found |= {value, unquote_plus(value)}
    return found


def _is_secret(name: str) -> bool:
    return any(word in name.lower() for word in SECRET_WORDS)


def _masked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: MASK if _is_secret(str(name)) and isinstance(each, str) else _masked(each)
            for name, each in value.items()
        }
    return [_masked(each) for each in value] if isinstance(value, list | tuple) else value


def _secret_values(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            if isinstance(each, str) and _is_secret(str(name)):
                yield each
            else:
                yield from _secret_values(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _secret_values(each)
