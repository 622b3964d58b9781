import json
import re
from pathlib import Path

import pytest

from tidemill.core.urls import BadUrl, canonicalize, host_of, join, normalize, origin_of, registrable_domain

W3LIB = Path(__file__).parents[4] / "shared" / "fixtures" / "urls" / "w3lib.json"

# Where our rules say otherwise: trailing slashes and empty parameters go, and only the web is canonicalised.
S3_SAYS_OTHERWISE = {
    "http://www.example.com/do?b=&a=2": "https://www.example.com/do?a=2",
    "http://www.example.com/do?b=&c&a=2": "https://www.example.com/do?a=2&c",
    "http://www.example.com/do?1750,4": "https://www.example.com/do?1750%2C4",
    "http://foo.com/AC%2FDC+rocks%3f/?yeah=1": "https://foo.com/AC%2FDC+rocks%3F?yeah=1",
    "http://foo.com/AC%2FDC/": "https://foo.com/AC%2FDC",
    "http://.éxamplé.com/résumé?q=résumé": "https://.xn--xampl-9raf.com/r%C3%A9sum%C3%A9?q=r%C3%A9sum%C3%A9",
}
NOT_OF_THE_WEB = {"a#frag", "a?b=1#frag", "?b=1", "sftp://UsEr:PaSsWoRd@www.EXAMPLE.com/"}


def w3lib_pairs() -> list[tuple[str, str]]:
    if not W3LIB.exists():
        return []
    return [(case["input"], case["expected"]) for case in json.loads(W3LIB.read_text(encoding="utf-8"))]


@pytest.mark.shows("S3")
@pytest.mark.skipif(not W3LIB.exists(), reason="the shared fixtures are not here")
def test_the_pairs_of_w3lib_hold_wherever_our_rules_do_not_say_otherwise() -> None:
    for url, expected in w3lib_pairs():
        if url in NOT_OF_THE_WEB:
            with pytest.raises(BadUrl):
                canonicalize(url)
        else:
            bare = re.sub(r"//[^/@]*@", "//", expected.replace("http://", "https://", 1))  # no user, no password
            assert canonicalize(url) == S3_SAYS_OTHERWISE.get(url, bare)


@pytest.mark.shows("S3")
@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://Example.ORG", "https://example.org/"),
        ("https://example.org/agenda/#top", "https://example.org/agenda"),
        ("https://example.org/a//", "https://example.org/a"),
        ("https://example.org//", "https://example.org/"),
        ("https://example.org/?utm_source=x&UTM_Medium=y&utm_=z", "https://example.org/"),
        ("https://example.org/?fbclid=1&gclid=2&ref=3&source=4&campaign=5&page=6", "https://example.org/?page=6"),
        ("https://example.org/?refer=1&resource=2", "https://example.org/?refer=1&resource=2"),
        ("https://example.org/?b=2&a=1&b=1", "https://example.org/?a=1&b=1&b=2"),
        ("https://example.org/?a=&b=2&&=", "https://example.org/?b=2"),
        ("https://example.org/?utm%5Fsource=x", "https://example.org/"),
        ("http://example.org:80/", "https://example.org/"),
        ("http://example.org:443/", "https://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://127.0.0.12:8080/agenda", "https://127.0.0.12:8080/agenda"),
        ("http://0x7f.1/", "https://127.0.0.1/"),
        ("https://example.org/a/../b/./c", "https://example.org/b/c"),
        ("https://example.org/a%7eb%2fc", "https://example.org/a~b%2Fc"),
        ("https://example.org/100%/%%32e", "https://example.org/100%25/%252e"),
        ("https:\\\\example.org\\agenda", "https://example.org/agenda"),
    ],
)
def test_a_page_has_one_spelling(url: str, canonical: str) -> None:
    assert canonicalize(url) == canonical
    assert canonicalize(canonical) == canonical


@pytest.mark.parametrize(
    "url",
    ["", "agenda", "www.example.org", "mailto:a@b.nl", "javascript:alert(1)", "file:///etc/passwd", "http://",
     "http://a b/", "http://[::1/", "http://example.org:99999/", "http://example.org/\ud800", "http://256.1.1.1/"],
)  # fmt: skip
def test_what_is_not_a_web_address_says_so_to_a_person(url: str) -> None:
    with pytest.raises(BadUrl, match="is not a web address"):
        canonicalize(url)


def test_a_very_long_mistake_is_shown_in_part() -> None:
    with pytest.raises(BadUrl) as caught:
        canonicalize("x" * 10_000)
    assert len(str(caught.value)) < 400


@pytest.mark.shows("F6")
@pytest.mark.parametrize(
    ("given", "registrable"),
    [
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("WWW.Example.ORG", "example.org"),
        ("example.org:8080", "example.org"),
        ("agenda.example.org.", "example.org"),
        ("www.bücher.de", "xn--bcher-kva.de"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("alice.github.io", "alice.github.io"),
        ("venue.lab.test", "lab.test"),
        ("127.0.0.12", "127.0.0.12"),
        ("http://127.0.0.12:9000/", "127.0.0.12"),
        ("0x7f.1", "127.0.0.1"),
        ("::1", "::1"),
        ("[2001:DB8::1]:80", "2001:db8::1"),
        ("http://user:secret@www.example.org/", "example.org"),
    ],
)
def test_the_registrable_domain_is_what_one_pace_is_shared_by(given: str, registrable: str) -> None:
    assert registrable_domain(given) == registrable


def test_the_host_of_an_address_has_no_port_brackets_or_credentials() -> None:
    assert host_of("http://user:secret@Example.org:81/x?a=b@c/d") == "example.org"
    assert host_of("http://[::1]:81/") == "::1"
    with pytest.raises(BadUrl):
        host_of("example.org")


def test_a_reference_is_resolved_as_a_browser_would() -> None:
    assert join("https://example.org/a/b", "../c?d=1") == "https://example.org/c?d=1"
    assert join("https://example.org/a", "//other.org") == "https://other.org/"
    assert join("https://example.org/a", "file:///etc/passwd") == "file:///etc/passwd"
    with pytest.raises(BadUrl):
        join("https://example.org/", "http://[broken")


def test_normalizing_keeps_what_the_server_may_need() -> None:
    assert normalize(" http://Example.org/a?utm_source=x#y ") == "http://example.org/a?utm_source=x#y"


def test_a_hostile_address_takes_no_longer_to_normalize_than_its_length_warrants() -> None:
    for hostile in ("a" * 20_000, "a/" * 10_000, "a." * 10_000, "a-" * 10_000, "?" * 20_000):
        assert normalize(f"http://example.org/{hostile}é").startswith("http://example.org/")


def test_an_origin_is_scheme_host_and_port() -> None:
    assert origin_of("http://a/b?c=/d") == "http://a"
    assert origin_of("https://example.org:8443/") == "https://example.org:8443"
    assert origin_of("mailto:a@b.nl") == "mailto:a@b.nl"
