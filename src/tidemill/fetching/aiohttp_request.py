"""One request on a connection of aiohttp's pool, without the session around it.

`aiohttp.ClientSession` looks after cookies, proxies, netrc, tracing, middleware and redirects for every request: a
quarter of what a page cost. Here the connector is called as the session calls it. aiohttp does not promise to keep the
names used here beyond its next major release, so the project requires a lower one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import cast

import aiohttp
from aiohttp import hdrs
from aiohttp.client_reqrep import ClientRequest, ClientResponse
from aiohttp.connector import BaseConnector
from aiohttp.helpers import TimerNoop
from aiohttp.typedefs import LooseHeaders
from multidict import CIMultiDict
from yarl import URL

from tidemill.pipeline.ports import WireRequest

LONGEST_HEADER = 65_536  # bytes; real sites pass aiohttp's own limit of 8,190 with their content policies
READ_AHEAD = 65_536  # bytes that may wait to be read before the sender is told to pause

BeforeSend = Callable[[], Awaitable[None]]

_NO_TIMER = TimerNoop()  # the caller limits the time of the whole call
_NO_LIMIT = aiohttp.ClientTimeout()


class DefaultHeaders(dict[str, str]):
    """Headers that most requests are sent with: they name no host, and a client need not add any."""


class _PlainRequest(ClientRequest):
    """A request that is sent with the default headers as they are."""

    def update_headers(self, headers: LooseHeaders | None) -> None:
        headers_sent: dict[str, str] = {hdrs.HOST: cast("str", self.url.host_port_subcomponent)}
        headers_sent.update(cast("DefaultHeaders", headers))
        self.headers = CIMultiDict(headers_sent)

    def update_auto_headers(self, skip_auto_headers: Iterable[str] | None) -> None:
        """Nothing is added."""


async def send_request(connector: BaseConnector, request: WireRequest, before_send: BeforeSend) -> ClientResponse:
    """Send a request and return its response as soon as it begins; `before_send` is awaited each time one is sent.

    A kept connection may have been closed by the server just as it was used, so a GET is sent a second time then.
    """
    try:
        return await _send_once(connector, request, before_send)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
        if request.method != hdrs.METH_GET:
            raise
    return await _send_once(connector, request, before_send)


async def _send_once(connector: BaseConnector, request: WireRequest, before_send: BeforeSend) -> ClientResponse:
    outgoing = _client_request(request.method, request.url, request.headers, request.content)
    connection = await connector.connect(outgoing, [], _NO_LIMIT)
    try:
        assert connection.protocol is not None  # noqa: S101 - it stands
        connection.protocol.set_response_params(
            read_until_eof=True,
            auto_decompress=False,
            read_bufsize=READ_AHEAD,
            max_line_size=LONGEST_HEADER,
            max_field_size=LONGEST_HEADER,
        )
        await before_send()
        response = await outgoing.send(connection)
        return await response.start(connection)
    except BaseException:  # whatever it is, nobody else may be handed a connection that waits for this answer
        if outgoing.response is not None:
            outgoing.response.close()
        connection.close()
        raise


def _client_request(method: str, url: str, headers: Mapping[str, str], content: bytes) -> ClientRequest:
    kind = _PlainRequest if isinstance(headers, DefaultHeaders) else ClientRequest
    return kind(
        method,
        URL(url, encoded=True),
        headers=headers,
        data=content or None,
        loop=asyncio.get_running_loop(),
        response_class=ClientResponse,
        timer=_NO_TIMER,
    )
