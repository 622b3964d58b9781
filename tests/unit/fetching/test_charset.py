import codecs
import time

import pytest

from tidemill.fetching.charset import _LABELS, charset_of, codec_of

pytestmark = pytest.mark.shows("F1")

HTML = "text/html"


@pytest.mark.parametrize("codec", _LABELS)
def test_every_label_leads_to_a_codec_that_python_has(codec: str) -> None:
    assert codecs.lookup(codec)
    assert codec_of(_LABELS[codec].split()[0].upper()) == codec


@pytest.mark.parametrize(
    ("body", "content_type", "codec"),
    [
        (b"caf\xe9", "text/html; charset=ISO-8859-1", "cp1252"),
        (b"x", 'text/html; charset="utf-8"', "utf-8"),
        (b"x", "text/html;charset=gb2312", "gb18030"),
        (b"x", "text/html; Charset = 'windows-1251' ; x=y", "cp1251"),
        (b"caf\xc3\xa9", "text/html; charset=nonsense", "utf-8"),
        (b"caf\xc3\xa9", "text/html; charset=", "utf-8"),
        (b'<meta charset="iso-8859-15">caf\xe9', HTML, "iso8859-15"),
        (b"<META http-equiv=Content-Type content='text/html; charset=windows-1250'>", HTML, "cp1250"),
        (b'<!-- <meta charset="koi8-r"> --><meta charset=utf-8>', HTML, "utf-8"),
        (b'<meta charset="utf-16">plain', HTML, "utf-8"),
        (b'<meta charset="bogus"><p>caf\xc3\xa9', HTML, "utf-8"),
        (b" " * 2000 + b'<meta charset="koi8-r">', HTML, "utf-8"),
        (b'<?xml version="1.0" encoding="iso-8859-2"?><rss/>', "application/rss+xml", "iso8859-2"),
        (b"\xef\xbb\xbfcaf\xc3\xa9", "text/html; charset=iso-8859-1", "utf-8-sig"),
        ("\ufeffhoi".encode("utf-16-le"), "text/html; charset=utf-8", "utf-16"),
        ("\ufeffhoi".encode("utf-16-be"), HTML, "utf-16"),
        (b"", HTML, "utf-8"),
        ("één café".encode(), "application/json", "utf-8"),
    ],
)
def test_the_charset_is_found_where_a_browser_finds_it(body: bytes, content_type: str, codec: str) -> None:
    assert charset_of(body, content_type) == codec


def test_a_body_that_says_nothing_and_is_not_utf_8_is_guessed_and_readable() -> None:
    text = "Café Zürich: één avond vol voorstellingen, geëerd door het publiek in de oude stad. " * 20
    assert text == text.encode("cp1252").decode(charset_of(text.encode("cp1252"), HTML))


def test_a_guess_is_always_a_codec_that_exists() -> None:
    for seed in range(64):
        body = bytes((seed * 31 + index * 97) % 256 for index in range(300)) + b"\xff"
        assert isinstance(body.decode(charset_of(body, HTML), errors="replace"), str)


def test_blanks_in_a_header_are_gone_through_once() -> None:
    """Sixty thousand of them kept the event loop for a quarter of a minute."""
    began = time.thread_time()
    assert charset_of(b"hoi", f"text/html; charset={' ' * 60_000};") == "utf-8"
    assert time.thread_time() - began < 1
