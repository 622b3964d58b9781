"""What feeds of every form list, and what bad ones cost."""

import gzip
import time

import pytest

from tidemill.reading.feeds.listing import MOST_ADDRESSES, MOST_BYTES, read_feed

pytestmark = pytest.mark.shows("S2")

RSS = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Agenda</title>
<link>https://club.example/</link><atom:link href="https://club.example/feed" rel="self"/>
<image><link>https://club.example/logo</link></image>
<item><title>Jazz</title><link> https://club.example/a?x=1&amp;y=2 </link><guid>1</guid></item>
<item><title>Folk</title><link><![CDATA[https://club.example/b]]></link>
<source><link>https://elsewhere.example/no</link></source></item>
<item><title>Twice</title><link>https://club.example/b</link></item><item><title>None</title></item>
</channel></rss>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel><link>https://club.example/</link></channel><item><link>https://club.example/a</link></item></rdf:RDF>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://club.example/"/>
<entry><link rel="edit" href="https://club.example/edit/1"/><link rel="alternate" href="/a"/></entry>
<entry><link href="https://club.example/b"/><link href="https://club.example/b.pdf"/></entry>
<entry><link rel="enclosure" href="https://club.example/c.mp3"/></entry></feed>"""
SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
 xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc>https://club.example/a</loc><image:image><image:loc>https://club.example/a.jpg</image:loc></image:image></url>
<url><loc>https://club.example/b</loc><lastmod>2026-01-01</lastmod></url></urlset>"""
INDEX = """<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>https://club.example/one.xml</loc></sitemap><sitemap><loc>https://club.example/two.xml.gz</loc></sitemap>
</sitemapindex>"""
PAGES = ["https://club.example/a", "https://club.example/b"]


@pytest.mark.parametrize(
    ("text", "form", "pages"),
    [
        (RSS, "RSS", ["https://club.example/a?x=1&y=2", "https://club.example/b"]),
        (RDF, "RSS 1.0", PAGES[:1]),
        (ATOM, "Atom", ["/a", "https://club.example/b"]),
        (SITEMAP, "sitemap", PAGES),
        ('{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "https://club.example/a"}, {"id": 1}]}',
         "JSON feed", PAGES[:1]),
        ("https://club.example/a\r\n\r\nhttps://club.example/b\n", "list of addresses", PAGES),
    ],
)  # fmt: skip
def test_every_form_lists_its_pages_and_nothing_else(text: str, form: str, pages: list[str]) -> None:
    listing = read_feed(text.encode())
    assert (listing.form, list(listing.pages), listing.trouble) == (form, pages, "")


def test_an_index_names_further_feeds() -> None:
    listing = read_feed(INDEX.encode())
    assert listing.form == "index of sitemaps"
    assert list(listing.feeds) == ["https://club.example/one.xml", "https://club.example/two.xml.gz"]
    assert listing.pages == []


@pytest.mark.parametrize("charset", ["utf-16", "iso-8859-1", "windows-1252", "utf-8-sig"])
def test_character_sets_are_told_by_the_feed_or_its_server(charset: str) -> None:
    named = "utf-8" if charset == "utf-8-sig" else charset
    text = SITEMAP.replace('version="1.0"', f'version="1.0" encoding="{named}"').replace("/b<", "/caf\u00e9<")
    assert list(read_feed(text.encode(charset)).pages) == [PAGES[0], "https://club.example/caf\u00e9"]
    if "-1" in charset and not charset.startswith("utf"):
        silent = SITEMAP.replace("/b<", "/caf\u00e9<")
        assert list(read_feed(silent.encode(charset), charset).pages)[1] == "https://club.example/caf\u00e9"


def test_a_packed_sitemap_is_unpacked() -> None:
    assert list(read_feed(gzip.compress(SITEMAP.encode())).pages) == PAGES


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<!doctype html><html><body>not found</body></html>", "a web page, and no feed"),
        (b"<catalogue><item><link>https://club.example/a</link></item></catalogue>", "its root is <catalogue>"),
        (b'{"a": 1}', "JSON without `items`"),
        (b"[1, 2]", "no feed"),
        (b"Hello there\nhttps://club.example/a", "no feed"),
        (b"", "no feed"),
        (b"\x1f\x8b broken", "no feed"),
        (b"<rss", "not well-formed"),
        (b'{"items": ' + b"[" * 100_000, "not well-formed"),
        (b'<?xml version="1.0" encoding="klingon"?><rss/>', "not well-formed"),
    ],
)
def test_what_is_no_feed_is_told_as_such(body: bytes, words: str) -> None:
    listing = read_feed(body)
    assert listing.pages in ([], ())
    assert words in listing.trouble


def test_a_feed_that_breaks_off_gives_what_came_before() -> None:
    listing = read_feed(SITEMAP.encode()[:-60])
    assert list(listing.pages)[:1] == PAGES[:1]
    assert "not well-formed" in listing.trouble


def test_entities_are_refused_before_they_grow() -> None:
    bomb = '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    listing = read_feed(f"{bomb}<rss><item><link>&b;</link></item></rss>".encode())
    assert listing.pages in ([], ())
    assert "declares entities" in listing.trouble


def test_a_longer_feed_than_is_taken_says_so() -> None:
    many = "".join(f"<url><loc>https://club.example/{n}</loc></url>" for n in range(MOST_ADDRESSES + 5))
    listing = read_feed(f"<urlset>{many}</urlset>".encode())
    assert len(listing.pages) == MOST_ADDRESSES
    assert "more pages than are taken" in listing.trouble


def test_a_packed_bomb_is_read_to_the_bound_and_no_further() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * (2 * MOST_BYTES), compresslevel=1)
    listing = read_feed(bomb)
    assert listing.trouble
    assert listing.pages in ([], [])


@pytest.mark.parametrize(
    "shape",
    [
        lambda n: b"<rss>" + b"<a>" * n,
        lambda n: b"<rss>" + b"<item><link>x</link>" * n,
        lambda n: b"<rss><item><link>" + b"a" * n,
        lambda n: b"<feed><entry>" + b'<link rel="x" href="y"/>' * n,
        lambda n: b"<rss " + b"".join(b'a%d="b" ' % i for i in range(n)) + b">",
        lambda n: b"http://a.example/" + b"\n" * n,
        lambda n: b"<urlset>" + b"<url><loc>&#x20;</loc></url>" * n,
    ],
    ids=["deep", "nested items", "long text", "links", "attributes", "lines", "empty"],
)
def test_hostile_shapes_cost_time_in_proportion(shape: object) -> None:
    def seconds(size: int) -> float:
        body = shape(size)  # type: ignore[operator]
        best = 9.0
        for _ in range(3):
            began = time.process_time()
            read_feed(body)
            best = min(best, time.process_time() - began)
        return best

    small, large = seconds(5_000), seconds(40_000)
    assert large < 0.05 + 8 * 4 * small, (small, large)
