"""A stand-in for a mail server, on a loopback port: it takes mails, or refuses them."""

import asyncio
from types import TracebackType
from typing import Self

from tidemill.lab.loopback import ONLY_ADDRESS


class SmtpStandin:
    """Speaks as much of SMTP as a client needs: `async with SmtpStandin() as server: server.port`.

    `mails` holds what it took; `refuses` lets it answer every mail with 451.
    """

    def __init__(self) -> None:
        """Nothing is opened before it is entered."""
        self.mails: list[str] = []
        self.refuses = False
        self.port = 0
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, ONLY_ADDRESS, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _say(writer, "220 standin")
        while line := (await reader.readline()).decode("latin-1").strip():
            verb = line.upper().split(" ")[0]
            if verb == "DATA":
                await self._take(reader, writer)
            elif verb == "QUIT":
                await _say(writer, "221 bye")
                break
            else:
                await _say(writer, "250 fine")
        writer.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _say(writer, "354 go on")
        lines: list[str] = []
        while (line := (await reader.readline()).decode("utf-8", "replace").rstrip("\r\n")) != ".":
            lines.append(line)
        if self.refuses:
            await _say(writer, "451 try again later")
            return
        self.mails.append("\n".join(lines))
        await _say(writer, "250 taken")


async def _say(writer: asyncio.StreamWriter, words: str) -> None:
    writer.write(f"{words}\r\n".encode())
    await writer.drain()
