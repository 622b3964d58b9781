"""Apprise, where its package is installed: it knows many services that people are reached by."""

import asyncio
import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any


def is_installed() -> bool:
    """Return whether the package is here."""
    return importlib.util.find_spec("apprise") is not None


class AppriseClient:
    """Sends texts to Apprise's addresses; they are secrets and stand in no answer."""

    def __init__(self, addresses: Sequence[str]) -> None:
        """The package is loaded when the first text is sent."""
        self._addresses = list(addresses)

    async def send(self, title: str, text: str) -> str:
        """Send a text to every address; '' or that one did not take it."""
        if not is_installed():
            return "apprise: not installed; install the extra `apprise`"
        try:
            taken = await asyncio.to_thread(self._notify, title, text)
        except Exception as error:  # noqa: BLE001 - code of many services runs here; what fails is told by its kind
            return f"apprise: {type(error).__name__}"
        return taken

    def _notify(self, title: str, text: str) -> str:
        package: Any = importlib.import_module("apprise")
        client = package.Apprise()
        unknown = [str(place) for place, address in enumerate(self._addresses, 1) if not client.add(address)]
        if unknown:
            return f"apprise: number {', '.join(unknown)} of apprise_urls is no address that Apprise knows"
        return "" if client.notify(body=text, title=title) else "apprise: not every address took it"
