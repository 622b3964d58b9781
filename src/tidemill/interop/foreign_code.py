"""Which code of other tools can be an adapter; the tools themselves are extras, imported when they are named."""

from tidemill.core.vertical import Adapter
from tidemill.interop.adapter_table import ForeignCode
from tidemill.interop.import_paths import ImportPath, UnusableCode
from tidemill.interop.items import ITEM_SETTINGS, plain_values
from tidemill.interop.named_adapters import make_named_adapter


def _page_object(path: ImportPath) -> Adapter:
    try:
        from tidemill.interop.page_objects import make_page_object_adapter  # noqa: PLC0415 - an extra
    except ImportError as error:
        msg = f"page objects need the extra web-poet: pip install 'tidemill[web-poet]' ({error})"
        raise UnusableCode(msg) from error
    return make_page_object_adapter(path)


def _spider(path: ImportPath) -> Adapter:
    try:
        from tidemill.interop.spiders import make_spider_adapter  # noqa: PLC0415 - an extra
    except ImportError as error:
        msg = f"spiders need the extra scrapy: pip install 'tidemill[scrapy]' ({error})"
        raise UnusableCode(msg) from error
    return make_spider_adapter(path)


FOREIGN_CODE = {
    "adapter": ForeignCode(make_named_adapter, {}),
    "poet": ForeignCode(_page_object, {**ITEM_SETTINGS, "page_params": plain_values}),
    "scrapy": ForeignCode(_spider, {**ITEM_SETTINGS, "spider_arguments": plain_values}),
}
"""How adapters are made, by what stands before the first colon of their name."""
