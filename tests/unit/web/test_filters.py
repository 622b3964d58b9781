"""What templates do with words: commands are shown as code, and nothing that was scraped becomes markup."""

import pytest

from tidemill.web.portal.filters import with_code


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("3 letters wait: see `tidemill dlq list`", "3 letters wait: see <code>tidemill dlq list</code>"),
        ("`a` and `b`", "<code>a</code> and <code>b</code>"),
        ("one ` alone", "one ` alone"),
        ("`<script>` says <b>", "<code>&lt;script&gt;</code> says &lt;b&gt;"),
        ("", ""),
    ],
)
def test_what_stands_between_backticks_is_code(words: str, shown: str) -> None:
    assert str(with_code(words)) == shown
