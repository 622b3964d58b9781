"""Page objects of an agenda whose item holds a list; one town's takes the place of the usual one."""

from typing import Any

import attrs
from web_poet import Returns, WebPage, field, handle_urls
from web_poet.exceptions import Retry, UseFallback


@attrs.define
class Happening:
    """One entry of an agenda."""

    name: str
    starts: str | None = None
    where: dict[str, Any] | None = None


@attrs.define
class Agenda:
    """All entries of a page."""

    entries: list[Happening]
    heading: str | None = None


class AgendaPage(WebPage[Agenda]):
    """The agenda as most towns have it."""

    @field
    def heading(self) -> str | None:
        """The page's title."""
        return self.css("h1::text").get()

    @field
    def entries(self) -> list[Happening]:
        """Every entry of the list."""
        if self.css(".maintenance"):
            raise Retry
        if not self.css("ul.agenda, .none"):
            raise UseFallback
        return [
            Happening(
                name=each.css("b::text").get(default=""),
                starts=each.css("time::attr(datetime)").get(),
                where={"hall": each.css("i::text").get()},
            )
            for each in self.css("ul.agenda li")
        ]


@handle_urls("north.example", instead_of=AgendaPage)
class NorthAgendaPage(AgendaPage, Returns[Agenda]):
    """One town has articles instead of a list."""

    @field
    def entries(self) -> list[Happening]:
        """Every article."""
        return [Happening(name=each.css("h2::text").get(default="")) for each in self.css("article")]
