"""The mixes of pages: what is served, which selectors a site is given, and how the plain contenders read it."""

from collections.abc import Callable, Mapping

import msgspec
from scrapy.http import Response

from benchmarks import mixed_pages, second_pages
from benchmarks.mixed_pages import CARDS
from benchmarks.mixed_reading import read_mix_with_scrapy, read_plainly
from benchmarks.plain_reading import EventRow
from benchmarks.plain_store import ProductRow
from benchmarks.second_reading import read_second_plainly, read_second_with_scrapy

Rows = tuple[list[EventRow], list[ProductRow]]


class Mix(msgspec.Struct, frozen=True):
    """A mix: the module that serves it, its kinds of pages by host, and who reads them how."""

    module: str
    kinds: tuple[str, ...]
    selectors: Mapping[str, Mapping[str, str]]
    read_plainly: Callable[[bytes, str, str], Rows]
    read_with_scrapy: Callable[[Response, str], Rows]


MIXES = {
    "mix": Mix(
        "mixed_pages", mixed_pages.KINDS, {CARDS: mixed_pages.SELECTORS}, read_plainly, read_mix_with_scrapy
    ),
    "second-mix": Mix(
        "second_pages", second_pages.KINDS, second_pages.SELECTORS, read_second_plainly, read_second_with_scrapy
    ),
}  # fmt: skip
