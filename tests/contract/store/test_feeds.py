"""Targets from feeds: what a source's feeds list is scraped, by its gates, on its own site, and stays."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import yaml

from rig.site import Site, a_site, agenda
from rig.works import UNHURRIED, Works, the_works
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.store.schema import targets

pytestmark = pytest.mark.shows("S2")


def sitemap(*addresses: str) -> str:
    """A sitemap of these pages."""
    return f"<urlset>{''.join(f'<url><loc>{each}</loc></url>' for each in addresses)}</urlset>"


@pytest.fixture
async def works(migrated_url: str) -> AsyncIterator[Works]:
    async with the_works(migrated_url) as opened:
        yield opened


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with a_site() as opened:
        yield opened


def entry(site: Site, feeds: list[Any], **fields: Any) -> dict[str, Any]:
    """A source with nothing but feeds."""
    return {"name": "club", "vertical": "events", "base_url": site.origin, "adapter": "events.generic",
            "city": "Arnhem", "pace": UNHURRIED, "settings": {"feeds": feeds}, **fields}  # fmt: skip


async def bring_in(works: Works, *entries: dict[str, Any]) -> list[str]:
    """Bring sources in; answers what is wrong with them."""
    done = await works.system.actions.importer.source_entries(entries, "test")
    return [problem.message for problem in done.problems]


async def addresses(works: Works) -> dict[str, str]:
    """Every target's path, and who made it."""
    return {row["url"].partition("/agenda")[2]: row["created_by"] for row in await works.rows(targets)}


async def test_what_feeds_list_becomes_targets_and_is_scraped(works: Works, site: Site) -> None:
    site.page("/one.xml", sitemap(f"{site.origin}/agenda/1", f"{site.origin}/agenda/2", f"{site.origin}/about"))
    site.page("/sitemap.xml", f"<sitemapindex><sitemap><loc>{site.origin}/one.xml</loc></sitemap></sitemapindex>")
    site.page("/feed", "<rss><item><link>/agenda/3</link></item><item><link>/agenda/1?utm_source=x</link></item></rss>")
    for path in ("1?utm_source=x", "2", "3"):
        site.page(f"/agenda/{path}", agenda([f"Concert {path}"]))
    assert await bring_in(works, entry(site, [{"url": "/sitemap.xml", "under": "/agenda/"}, "/feed"])) == []
    done = await works.system.actions.feeds.refresh("club", "ans")
    assert (done.added, done.known, done.refused) == (3, 0, 0)
    assert [(one.form, len(one.pages), one.trouble) for one in done.feeds] == [
        ("index of sitemaps", 0, ""), ("RSS", 2, ""), ("sitemap", 2, "")]  # fmt: skip
    made = await addresses(works)
    assert set(made) == {"/1?utm_source=x", "/2", "/3"}, "the same page once, however feeds write it"
    assert all(who.startswith("feed http") for who in made.values())
    assert await works.enqueue((await works.system.actions.sources.find("club")).id) == 3
    await works.system.worker.sign_in()
    await works.system.make_drain().run("http")
    assert {row["last_status"] for row in await works.rows(targets)} == {"SUCCESS"}


async def test_reading_feeds_again_adds_what_is_new_and_leaves_the_rest_as_it_stands(works: Works, site: Site) -> None:
    site.page("/feed", sitemap(f"{site.origin}/agenda/1"))
    assert await bring_in(works, entry(site, ["/feed"])) == []
    feeds = works.system.actions.feeds
    assert (await feeds.refresh("club", "ans", dry_run=True)).added == 1
    assert await works.count(targets) == 0
    await feeds.refresh("club", "ans")
    await works.system.actions.targets.pause(f"{site.origin}/agenda/1", "ans")
    site.page("/feed", sitemap(f"{site.origin}/agenda/2", f"{site.origin}/agenda/1"))
    assert "2 feeds" not in await works.system.ticks.chores["feeds"].run()
    rows = await works.rows(targets)
    assert [(row["url"][-1], row["status"]) for row in rows] == [("1", "PAUSED"), ("2", "ACTIVE")]
    again = await feeds.refresh("club", "ans")
    assert (again.added, again.known) == (0, 2)
    site.page("/feed", sitemap(f"{site.origin}/agenda/2"))
    await feeds.refresh("club", "ans")
    assert await works.count(targets) == 2, "a feed takes nothing away"


async def test_pages_and_feeds_on_other_sites_are_refused(works: Works, site: Site) -> None:
    site.page("/feed", sitemap(f"{site.origin}/agenda/1", "https://elsewhere.example/x", "ftp://a.example/", "//"))
    site.says("/away", b"HTTP/1.1 302 Found\r\nLocation: http://127.9.9.9:1/\r\nContent-Length: 0\r\n\r\n")
    [problem] = await bring_in(works, entry(site, ["https://elsewhere.example/feed"]))
    assert "elsewhere.example is not the source's site" in problem
    assert await bring_in(works, entry(site, ["/feed", "/away", "/gone"])) == []
    done = await works.system.actions.feeds.refresh("club", "ans")
    assert (done.added, done.refused) == (1, 2)
    assert "elsewhere.example is not the source's site" in done.refusals[0]
    assert [bool(one.trouble) for one in done.feeds] == [False, True, True]
    assert await works.count(targets) == 1


async def test_a_source_that_may_not_be_asked_is_not_asked_for_its_feeds(works: Works, site: Site) -> None:
    site.page("/feed", sitemap(f"{site.origin}/agenda/1"))
    shop = entry(site, ["/feed"], name="shop", vertical="prices", adapter="prices.generic")
    off = entry(site, ["/feed"], name="off", enabled=False)
    assert await bring_in(works, shop, off) == []
    said = await works.system.ticks.chores["feeds"].run()
    assert "2 sources not asked" in said
    assert site.asked == []
    with pytest.raises(Mistake, match="switched off by a person"):
        await works.system.actions.feeds.refresh("off", "ans")
    site.page("/robots.txt", "User-agent: *\nDisallow: /feed\n", "text/plain")
    done = await works.system.actions.feeds.refresh("shop", "ans")
    assert "robots" in done.feeds[0].trouble
    assert site.visits("/feed") == 0


async def test_a_file_that_names_targets_takes_away_none_that_a_feed_brought(works: Works, site: Site) -> None:
    site.page("/feed", sitemap(f"{site.origin}/agenda/1"))
    mine = entry(site, ["/feed"], targets=["/agenda/7", "/agenda/8"])
    assert await bring_in(works, mine) == []
    await works.system.actions.feeds.refresh("club", "ans")
    fewer = yaml.safe_dump([mine | {"targets": ["/agenda/7"]}]).encode()
    done = await works.system.actions.importer.sources_file(fewer, "ans", prune=True)
    assert [each[-1] for each in done.removed_targets] == ["8"]
    assert {row["url"][-1] for row in await works.rows(targets)} == {"1", "7"}


@pytest.mark.parametrize(
    ("feeds", "words"),
    [
        ([], "write a list of addresses"),
        ("/feed", "write a list of addresses"),
        (["feed"], "is no address"),
        ([{"url": "/feed", "undr": "/a"}], "did you mean 'under'?"),
        ([{"under": "/a"}], "url"),
        ([{"url": "/feed", "most": 0}], "`most` is 1 to"),
        ([{"url": "/feed", "under": "a"}], "`under` is how paths begin"),
        ([7], "write an address"),
        (["/feed"] * 21, "at most 20 feeds"),
    ],
)
async def test_feeds_that_cannot_be_meant_are_refused_in_words(
    works: Works, site: Site, feeds: Any, words: str
) -> None:  # fmt: skip
    [problem] = await bring_in(works, entry(site, feeds))
    assert words in problem


async def test_a_source_without_feeds_is_told_how_to_have_some(works: Works, site: Site) -> None:
    site.page("/agenda/1", agenda(["Concert"]))
    await works.source(site)
    with pytest.raises(Mistake, match="has no feeds"):
        await works.system.actions.feeds.refresh("agenda", "ans")
    with pytest.raises(NotFound, match="did you mean 'agenda'"):
        await works.system.actions.feeds.refresh("agneda", "ans")
