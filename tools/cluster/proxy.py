"""A TCP proxy that can stop passing anything on, as a cut network does."""

import asyncio
import threading
from contextlib import suppress


class CuttableProxy:
    """Passes bytes between a port of its own and another, in a thread with its own loop, until it is cut."""

    def __init__(self, port: int, to: int) -> None:
        """Not started."""
        self.port = port
        self._to = to
        self._open = threading.Event()
        self._open.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Listen."""
        self._thread.start()

    def cut(self) -> None:
        """Pass nothing on: those who talk hear nothing, not even that the other is gone."""
        self._open.clear()

    def mend(self) -> None:
        """Pass on again; connections from before are closed, as routers do with those that they forgot."""
        self._open.set()
        self._loop.call_soon_threadsafe(self._close_all)

    def _close_all(self) -> None:
        for writer in self._writers:
            writer.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(asyncio.start_server(self._talk, "127.0.0.1", self.port))
        self._loop.run_forever()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self._to)
            self._writers |= {writer, other_writer}
            await asyncio.gather(self._pass(reader, other_writer), self._pass(other_reader, writer))
            self._writers -= {writer, other_writer}

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                while not self._open.is_set():  # noqa: ASYNC110 - a thread sets it
                    await asyncio.sleep(0.05)  # noqa: TID251 - a script
                writer.write(data)
                await writer.drain()
        writer.close()
