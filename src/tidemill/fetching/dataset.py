"""The items that an actor found, read from its dataset page by page and under a size limit."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import msgspec

from tidemill.core.failure import Failure
from tidemill.fetching.service_api import ApiTrouble
from tidemill.pipeline.ports import WireResponse

PAGE_SIZE = 1_000
"""Items in one call."""

EARLIEST = datetime.min.replace(tzinfo=UTC)
"""The job's own retry policy says when to come back."""

Call = Callable[..., Awaitable[WireResponse | ApiTrouble]]


class DatasetItems(msgspec.Struct, frozen=True):
    """The items as one JSON array; `is_cut` when there were more than fit."""

    body: bytes
    total: int
    is_cut: bool = False


async def read_items(call: Call, dataset_id: str, max_bytes: int) -> DatasetItems | ApiTrouble:
    """Return all items of a dataset; `call` returns a good response or trouble."""
    pieces: list[msgspec.Raw] = []
    size, total = 2, 0
    while True:
        query = {"format": "json", "clean": "true", "offset": str(total), "limit": str(PAGE_SIZE)}
        answer = await call("GET", f"/v2/datasets/{dataset_id}/items", query, max_bytes=max_bytes)
        if isinstance(answer, ApiTrouble):
            return answer
        if answer.cut is Failure.TOO_LARGE:
            return DatasetItems(_joined(pieces), total, is_cut=True)
        items = _decoded(answer)
        if isinstance(items, ApiTrouble):
            return items
        pieces += items
        size += sum(len(each) + 1 for each in items)
        total += len(items)
        if size > max_bytes:
            return DatasetItems(_joined(pieces)[:max_bytes], total, is_cut=True)
        if len(items) < PAGE_SIZE or total >= _total_items(answer, total + 1):
            return DatasetItems(_joined(pieces), total)


def _decoded(answer: WireResponse) -> list[msgspec.Raw] | ApiTrouble:
    try:
        return msgspec.json.decode(answer.body, type=list[msgspec.Raw])
    except msgspec.DecodeError:
        message = "apify's dataset is no list of items" if answer.cut is None else f"the dataset came {answer.cut}"
        return ApiTrouble(Failure.SERVER_ERROR, message, EARLIEST)


def _total_items(answer: WireResponse, otherwise: int) -> int:
    header = answer.headers.get("x-apify-pagination-total", "")
    return int(header[:12]) if header.isascii() and header.isdigit() else otherwise


def _joined(pieces: list[msgspec.Raw]) -> bytes:
    return b"[" + b",".join(bytes(each) for each in pieces) + b"]"
