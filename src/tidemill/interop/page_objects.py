"""Page objects of web-poet as adapters: `adapter: poet:package.module:PageClass`.

The name may be that of a page object, or of an item whose page object the rules of `@handle_urls` choose by the page's
address. Either way rules that put one page object in another's place hold.
"""

from collections.abc import Mapping
from typing import Any, get_origin

import andi
from itemadapter import ItemAdapter
from web_poet import ItemPage, consume_modules, default_registry
from web_poet.exceptions import Retry, UseFallback
from web_poet.page_inputs import (
    AnyResponse,
    BrowserHtml,
    BrowserResponse,
    HttpClient,
    HttpRequest,
    HttpResponse,
    HttpResponseBody,
    HttpResponseHeaders,
    PageParams,
    RequestUrl,
    ResponseUrl,
    Stats,
)
from web_poet.pages import is_injectable

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, Reading
from tidemill.core.source import FetcherKind
from tidemill.core.vertical import Context
from tidemill.interop.coroutines import MustWait, run_to_end
from tidemill.interop.import_paths import ImportPath, UnusableCode, code_version, import_class
from tidemill.interop.items import ITEM_SETTINGS, note_on_lists, plain_values, records_of
from tidemill.interop.nothing_read import reason_for_nothing

_OF_BROWSER = frozenset({BrowserHtml, BrowserResponse})
_PROVIDED = _OF_BROWSER | {
    AnyResponse, HttpRequest, HttpResponse, HttpResponseBody, HttpResponseHeaders, PageParams, RequestUrl, ResponseUrl,
    Stats,
}  # fmt: skip
DEEPEST_ITEM = 5
"""How far page objects may need the items of other page objects."""
POET_SETTINGS = {**ITEM_SETTINGS, "page_params": plain_values}


class PageObjectAdapter:
    """Reads a page with a page object of web-poet."""

    settings = POET_SETTINGS

    def __init__(self, path: ImportPath, cls: type[Any]) -> None:
        """`cls` is a page object, or an item that one of them returns."""
        self.id = str(path)
        self.version = code_version(cls, *_modules_of_rules(cls))
        self.domain = "*"
        self.needs_browser = _needs_browser(cls)
        self._named = cls

    def read(self, page: Page, context: Context) -> Reading:
        """The item that the page object makes of the page, as one record or as those inside it."""
        try:
            cls = page_class(self._named, page.final_url)
            item = run_to_end(build_page(cls, page, context).to_item())
        except (UnusableCode, MustWait) as error:
            return Fail(Failure.ADAPTER_CRASHED, str(error))
        except UseFallback as error:
            return Fail(Failure.LAYOUT_CHANGED, f"the page object does not know this page: {error}"[:500])
        except Retry as error:
            return Fail(Failure.EMPTY_PAGE, f"the page object asks for the page again: {error}"[:500])
        fields = {} if item is None else ItemAdapter(item).asdict()
        records = records_of([fields], context, cls.__name__)
        if not records:
            return reason_for_nothing(page, f"{cls.__name__} returned nothing")
        return Found(records=records, notes=note_on_lists(fields, context))


def make_page_object_adapter(path: ImportPath) -> PageObjectAdapter:
    """Return the adapter for a name; raise `UnusableCode` if it cannot be one."""
    cls = import_class(path)
    if not issubclass(cls, ItemPage) and not default_registry.search(to_return=cls):
        _import_rules(cls.__module__.partition(".")[0])
    return PageObjectAdapter(path, cls)


def _modules_of_rules(cls: type[Any]) -> list[str]:
    """Return the modules of page objects that rules may put in the place of the one that is named."""
    rules = [*default_registry.search(to_return=cls), *default_registry.search(instead_of=cls)]
    return sorted({rule.use.__module__ for rule in rules})


def _import_rules(package: str) -> None:
    """Import a package whole: the rules of an item's page objects often stand in other modules than the item."""
    try:
        consume_modules(package)
    except Exception as error:
        msg = f"the page objects in {package} cannot be imported ({type(error).__name__}: {error})"
        raise UnusableCode(msg[:500]) from error


def page_class(named: type[Any], url: str) -> type[ItemPage[Any]]:
    """Return the page object for an address: the one that is named, or the one that rules put in its place."""
    if issubclass(named, ItemPage):
        return default_registry.overrides_for(url).get(named, named)
    found = default_registry.page_cls_for_item(url, named)
    if found is None:
        msg = f"no rule of @handle_urls names a page object that returns {named.__name__} for {url[:200]}"
        raise UnusableCode(msg)
    return found


def build_page(cls: type[Any], page: Page, context: Context, depth: int = 0) -> Any:
    """Return the page object with everything that it asks for.

    Raises:
        UnusableCode: it asks for what a stored page cannot give, such as a client for requests.
    """
    url = page.final_url
    if depth > DEEPEST_ITEM:
        msg = f"{cls.__name__} needs items that need each other"
        raise UnusableCode(msg)
    steps = _plan(cls, url)
    made: dict[Any, Any] = {}
    for needed, arguments in steps[:-1]:
        if (plain := _without_arguments(needed)) in _PROVIDED:
            made[needed] = _given(plain, page, context)
        elif (other := default_registry.page_cls_for_item(url, needed)) is not None and not is_injectable(needed):
            made[needed] = run_to_end(build_page(other, page, context, depth + 1).to_item())
        else:
            made[needed] = needed(**arguments.kwargs(made))
    return cls(**steps.final_kwargs(made))


def _plan(cls: type[Any], url: str) -> Any:
    overrides = default_registry.overrides_for(url)
    try:
        return andi.plan(
            cls,
            is_injectable=is_injectable,
            full_final_kwargs=True,
            externally_provided=lambda each: (
                _without_arguments(each) in _PROVIDED or (each is not cls and _is_item(each, url))
            ),
            overrides=lambda each: overrides.get(each) if each is not cls else None,
        )
    except andi.NonProvidableError as error:
        needs_client = HttpClient.__name__ in str(error)
        why = "it asks for requests of its own, and an adapter never fetches" if needs_client else str(error)
        msg = f"{cls.__name__} cannot be made from a stored page: {why}"
        raise UnusableCode(msg[:500]) from error


def _without_arguments(needed: Any) -> Any:
    """Return the class of `PageParams[str, str]`, and of anything else itself."""
    return get_origin(needed) or needed


def _is_item(cls: type[Any], url: str) -> bool:
    """Return whether a page object returns it: the one for this address, any of them without one."""
    if not url:
        return bool(default_registry.search(to_return=cls))
    return default_registry.page_cls_for_item(url, cls) is not None


def _given(needed: type[Any], page: Page, context: Context) -> Any:
    """Return what the stored page, or its source's settings, give for one input."""
    parameters = context.source.adapter_settings.get("page_params")
    headers = {"Content-Type": page.content_type} if page.content_type else {}
    response = HttpResponse(
        page.final_url, page.body, status=page.status_code, headers=headers, encoding=page.charset or None
    )
    rendered = BrowserResponse(url=page.final_url, html=page.text, status=page.status_code)
    in_browser = context.source.fetcher is FetcherKind.BROWSER
    inputs: Mapping[type[Any], Any] = {
        HttpResponse: response,
        HttpResponseBody: response.body,
        HttpResponseHeaders: response.headers,
        HttpRequest: HttpRequest(page.url),
        RequestUrl: RequestUrl(page.url),
        ResponseUrl: response.url,
        BrowserResponse: rendered,
        BrowserHtml: rendered.html,
        AnyResponse: AnyResponse(response=rendered if in_browser else response),
        PageParams: PageParams(parameters if isinstance(parameters, Mapping) else {}),
        Stats: Stats(),
    }
    return inputs[needed]


def _needs_browser(cls: type[Any]) -> bool:
    """Return whether a page object asks for what only a browser gives; raise `UnusableCode` if it asks for more."""
    if not issubclass(cls, ItemPage):
        pages = [rule.use for rule in default_registry.search(to_return=cls)]
        if not pages:
            msg = f"{cls.__name__} is neither a page object of web-poet nor an item that a rule of @handle_urls returns"
            raise UnusableCode(msg)
        return any(_needs_browser(each) for each in pages)
    return any(needed in _OF_BROWSER for needed, _ in _plan(cls, ""))
