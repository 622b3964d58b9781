"""What a vertical adds to `tidemill demo`: an option, and what choosing it changes."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import msgspec

Entry = dict[str, Any]
"""A source, in the form of a sources file."""


class DemoTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What sort of world to serve, and how fast it may be asked.

    `counts` says how many sites of each kind there are, by the names of the lab server's options; without `faults`
    everything goes wrong that can.
    """

    seed: int
    counts: Mapping[str, int]
    faults: str | None
    seconds: float
    interval: float


class ServedSites(msgspec.Struct, frozen=True):
    """Sites that are up: their sources, and settings that a system needs to reach what stands beside them."""

    sources: list[Entry]
    settings: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOption:
    """A switch of `tidemill demo`. What it leaves out stays as it is without it.

    `conflicts` says, by the other option's name, why the two do not go together. A system is whatever `bootstrap`
    builds; the vertical's own functions know which part of it they need.
    """

    name: str
    help: str
    conflicts: Mapping[str, str] = field(default_factory=dict)
    change_terms: Callable[[DemoTerms], DemoTerms] = lambda terms: terms
    serve: Callable[[DemoTerms], AbstractAsyncContextManager[ServedSites]] | None = None
    """Serves sites of its own in place of the lab server's."""
    prepare_source: Callable[[Entry], Entry] = lambda entry: entry
    serve_beside: Callable[[list[Entry]], AbstractAsyncContextManager[Mapping[str, Any]]] | None = None
    """Serves what the system may ask beside the sites; yields the settings that point at it."""
    bring_in: Callable[[Any, list[Entry]], Awaitable[str]] | None = None
    """Makes the sites sources of the system in another way than by importing them; answers what was done, in words."""
    while_running: Callable[[Any], AbstractAsyncContextManager[None]] | None = None
    """Goes on while the demo runs."""
