"""Spiders of Scrapy as adapters: `adapter: scrapy:package.module:Spider`.

A callback is called with the stored page. Items become raw records; requests for the same site become pages to
follow. No reactor runs: what needs one is refused with words.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any

from itemadapter import ItemAdapter
from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.http.headers import Headers
from scrapy.responsetypes import responsetypes
from scrapy.settings import Settings
from scrapy.spiders import CrawlSpider
from twisted.internet.base import ReactorBase

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import MOST_RECORDS, Found, Reading
from tidemill.core.urls import BadUrl, canonicalize
from tidemill.core.vertical import Context
from tidemill.interop.coroutines import MustWait, run_through
from tidemill.interop.import_paths import ImportPath, UnusableCode, code_version, import_class
from tidemill.interop.items import ITEM_SETTINGS, plain_values, records_of
from tidemill.interop.nothing_read import reason_for_nothing
from tidemill.interop.spider_requests import DEFAULT_CALLBACK, Handover, Unfollowed, address_of, handover_of
from tidemill.interop.spider_state import SpiderState

MOST_YIELDED = 2 * MOST_RECORDS
"""Items and requests that are taken from one page: the most records, and as many pages to follow."""
SCRAPY_SETTINGS = {**ITEM_SETTINGS, "spider_arguments": plain_values}


class SpiderAdapter:
    """Reads a page with a callback of a spider."""

    settings = SCRAPY_SETTINGS
    domain = "*"
    needs_browser = False

    def __init__(self, path: ImportPath, cls: type[Spider]) -> None:
        """`cls` is the spider."""
        self.id = str(path)
        self.version = code_version(cls)
        self._cls = cls

    def read(self, page: Page, context: Context) -> Reading:
        """The items that the callback yields as records, and the pages that it asks for."""
        try:
            spider = make_spider(self._cls, context.source.adapter_settings.get("spider_arguments"))
            sent = context.source.headers
            handover = _handover(page, spider, sent)
            yielded, state = _yielded(spider, page, handover)
        except (UnusableCode, MustWait) as error:
            return Fail(Failure.ADAPTER_CRASHED, str(error))
        items = [ItemAdapter(each).asdict() for each in yielded[:MOST_YIELDED] if ItemAdapter.is_item(each)]
        addresses = [address_of(each, spider, sent) for each in yielded[:MOST_YIELDED] if isinstance(each, Request)]
        left = Counter(each.why for each in addresses if isinstance(each, Unfollowed))
        closed = [f"the spider closed itself: {each.reason}" for each in yielded if isinstance(each, CloseSpider)]
        records = records_of(items, context, f"{self._cls.__name__}.{handover.callback}")
        follow = tuple(each for each in addresses if isinstance(each, str))
        counters = state.counters_in(_by_same_callback(follow, handover))
        if not records and not follow:
            return reason_for_nothing(page, f"{self._cls.__name__}.{handover.callback} yielded nothing")
        return Found(
            records=records,
            follow=follow,
            truncated=len(yielded) > MOST_YIELDED or bool(left or closed or counters),
            notes=(
                *closed,
                *(f"{count} requests were left: {why}" for why, count in left.items()),
                *(f"{name} counts pages on the spider; hand the number on with cb_kwargs" for name in counters),
            ),
        )


def make_spider_adapter(path: ImportPath) -> SpiderAdapter:
    """Return the adapter for a name; raise `UnusableCode` if it cannot be one."""
    cls = import_class(path)
    if not issubclass(cls, Spider):
        msg = f"{cls.__name__} is no spider of Scrapy"
        raise UnusableCode(msg)
    make_spider(cls, None)
    return SpiderAdapter(path, cls)


def make_spider(cls: type[Spider], arguments: object) -> Spider:
    """Return a spider with its settings, and without a crawler.

    Raises:
        UnusableCode: it cannot be made, or needs a crawler for that.
    """
    given = dict(arguments) if isinstance(arguments, Mapping) else {}
    try:
        spider = cls(**given)
    except Exception as error:
        msg = f"{cls.__name__} cannot be made: {type(error).__name__}: {error}; `spider_arguments` are what -a gives it"
        raise UnusableCode(msg[:500]) from error
    settings = Settings()
    cls.update_settings(settings)
    spider.settings = settings
    if isinstance(spider, CrawlSpider):
        spider._follow_links = True
    return spider


def start_requests_of(spider: Spider, most: int = 1_000) -> list[Request]:
    """Return the requests that a spider begins with, as many as `most`."""
    older = getattr(spider, "start_requests", None)
    begun = older() if older is not None else spider.start()
    return [each for each in islice(run_through(begun), most) if isinstance(each, Request)]


def _handover(page: Page, spider: Spider, sent: Collection[str]) -> Handover:
    """Return how to read the page: as its address says, else as the spider would begin with it."""
    if "#" in page.url:
        return handover_of(page.url)
    wanted = _same(page.url)
    for request in start_requests_of(spider):
        if _same(request.url) == wanted and isinstance(address := address_of(request, spider, sent), str):
            return handover_of(address)
    return Handover()


def _yielded(spider: Spider, page: Page, handover: Handover) -> tuple[list[Any], SpiderState]:
    """Return what the callback yields, and what it changed on the spider; its classes are as they were before."""
    state = SpiderState(spider)
    try:
        return list(islice(_answers(spider, page, handover), MOST_YIELDED + 1)), state
    finally:
        state.put_back()


def _by_same_callback(addresses: Iterable[str], handover: Handover) -> list[str]:
    """Return the pages that are read as this one was: its next ones, not the things that it lists."""
    alike = [each for each in addresses if _called(handover_of(each)) == _called(handover)]
    return [each.partition("#")[0] for each in alike]


def _called(handover: Handover) -> str:
    return "parse" if handover.callback == DEFAULT_CALLBACK else handover.callback


def _same(url: str) -> str:
    try:
        return canonicalize(url)
    except BadUrl:
        return url


def _answers(spider: Spider, page: Page, handover: Handover) -> Iterator[Any]:
    callback = getattr(spider, handover.callback, None)
    if callback is None:
        msg = f"{type(spider).__name__} has no callback {handover.callback!r} any more"
        raise UnusableCode(msg)
    try:
        with _no_reactor():
            yield from run_through(callback(response_of(page, handover), **handover.arguments))
    except CloseSpider as closed:
        yield closed
    except SystemExit as error:
        msg = "it ends the process that it runs in, which is not its own; return, or raise CloseSpider"
        raise UnusableCode(msg) from error
    except AttributeError as error:
        if error.name == "crawler":
            msg = "it asks for its crawler, and none runs here; read what the page and `spider_arguments` say"
            raise UnusableCode(msg) from error
        raise


@contextmanager
def _no_reactor() -> Iterator[None]:
    """Refuse to start a reactor while entered: it would hold its reader up until its time is over."""
    before = ReactorBase.startRunning
    ReactorBase.startRunning = _refuse_reactor  # type: ignore[method-assign]
    try:
        yield
    finally:
        ReactorBase.startRunning = before  # type: ignore[method-assign]


def _refuse_reactor(*_: object, **__: object) -> None:
    msg = "it starts a reactor, and none runs here; read what the page itself says"
    raise UnusableCode(msg)


def response_of(page: Page, handover: Handover) -> Response:
    """Return the stored page as Scrapy would have given it to the callback."""
    headers = {"Content-Type": page.content_type} if page.content_type else {}
    kind = responsetypes.from_args(headers=Headers(headers), url=page.final_url, body=page.body[:5_000])
    more: dict[str, Any] = {"encoding": page.charset} if page.charset and hasattr(kind, "encoding") else {}
    request = Request(page.url.partition("#")[0], cb_kwargs=dict(handover.arguments), meta=dict(handover.meta))
    return kind(page.final_url, status=page.status_code, headers=headers, body=page.body, request=request, **more)
