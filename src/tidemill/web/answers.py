"""What generic routes answer with that no other room has a type for."""

from collections.abc import Sequence

import msgspec

from tidemill.core.access.roles import Role


class SettingView(msgspec.Struct, frozen=True):
    """A setting in force; secrets are masked."""

    name: str
    value: str
    origin: str
    description: str


class LinkMade(msgspec.Struct, frozen=True):
    """A path that works once within 15 minutes: whoever follows it chooses the person's password."""

    path: str


class Me(msgspec.Struct, frozen=True):
    """Who the caller is to us."""

    name: str
    kind: str
    role: Role


class TickRun(msgspec.Struct, frozen=True):
    """What came of doing a piece of periodic work now: `ok`, `failed`, or `taken` while another process does it."""

    name: str
    answer: str


class DatasetView(msgspec.Struct, frozen=True, kw_only=True):
    """What can be exported, in which formats, and what narrows it."""

    name: str
    about: str
    address: str
    formats: Sequence[str]
    filters: Sequence[str]
    columns: Sequence[str]
