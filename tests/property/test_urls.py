from contextlib import suppress

import pytest
from ada_url import normalize_url
from hypothesis import example, given
from hypothesis import strategies as st

from tidemill.core import urls as urls_module
from tidemill.core.urls import BadUrl, canonicalize, host_of, registrable_domain

TRIMMED = "".join(map(chr, range(33)))  # what a browser trims from the ends of an address

hosts = st.one_of(
    st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?(\.[a-z]{2,6}){1,3}\.?", fullmatch=True),
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).map(lambda address: f"[{address}]"),
)
text = st.text(st.one_of(st.sampled_from("%/?#&=+.;@:\\2eEfF4 "), st.characters(codec="utf-8")), max_size=30)
urls = st.builds(
    lambda scheme, host, port, path: f"{scheme}://{host}{port}/{path}",
    st.sampled_from(["http", "https", "HTTP"]), hosts, st.sampled_from(["", ":80", ":443", ":8080"]), text,
)  # fmt: skip


@pytest.mark.shows("S3")
@given(urls)
@example("http://example.org/%%32e/%%32e/")
@example("http://example.org/?a&%61=%3D&=b")
def test_canonicalizing_twice_changes_nothing(url: str) -> None:
    with suppress(BadUrl):
        once = canonicalize(url)
        assert canonicalize(once) == once


@pytest.mark.shows("S3")
@given(urls, st.sampled_from(["utm_source=x", "UTM_x=1", "fbclid=a", "ref=b", "empty=", "source=%20", ""]))
def test_tracking_empty_parameters_and_fragments_name_no_other_page(url: str, noise: str) -> None:
    with suppress(BadUrl):
        page = url.partition("#")[0].rstrip(TRIMMED)
        joiner = "&" if "?" in page else "?"
        assert canonicalize(f"{page}{joiner}{noise}#there") == canonicalize(page)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_a_bad_url(url: str) -> None:
    with suppress(BadUrl):
        assert canonicalize(url).startswith("https://")


@pytest.mark.shows("F6")
@given(urls)
def test_a_host_and_its_subdomains_share_a_registrable_domain(url: str) -> None:
    with suppress(BadUrl):
        host = host_of(url)
        assert registrable_domain(url) == registrable_domain(host)
        assert host.rstrip(".").endswith(registrable_domain(url))


spelled_normally = st.from_regex(urls_module._NORMAL, fullmatch=True)


@given(spelled_normally)
@example("http://example.org:9999/a.b/?a=%zz")
@example("http://1.2.3.4/")
def test_what_looks_normal_is_what_the_parser_would_answer(url: str) -> None:
    assert normalize_url(url) == url


@given(
    st.from_regex(urls_module._NORMAL_ORIGIN, fullmatch=True) | hosts.map(lambda host: f"http://{host}:443"),
    st.from_regex(urls_module._TIDY_PATH, fullmatch=True) | text,
)
@example("http://example.org:443", "/a/")
@example("https://example.org", "//")
@example("https://example.org", "/a/../b")
@example("http://example.org?a", "/b")
def test_a_tidy_path_on_a_known_origin_is_spelled_as_if_taken_apart(origin: str, path: str) -> None:
    with suppress(BadUrl):
        assert canonicalize(origin + path) == urls_module._taken_apart(origin + path)
