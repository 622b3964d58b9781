from datetime import UTC, datetime

import pytest

from tidemill.terminal.showing import as_text, styled_text, without_control_codes


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "-"),
        ("", "-"),
        (True, "yes"),
        (False, "no"),
        (1234, "1,234"),
        (0.5, "0.50"),
        ([], "-"),
        (["a", 2], "a, 2"),
        ({"done": 3}, "3 done"),
        (datetime(2026, 3, 2, 12, 0, tzinfo=UTC), "2026-03-02 12:00:00"),
    ],
)
def test_values_are_shown_as_people_read_them(value: object, words: str) -> None:
    assert as_text(value) == words


@pytest.mark.shows("A4")
def test_scraped_text_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in without_control_codes("\x1b]0;owned\x07 \x9b31m")
    assert "\x1b" not in styled_text("\x1b[2J").plain


@pytest.mark.shows("A4")
def test_scraped_text_is_never_markup() -> None:
    assert styled_text("[red]sale[/red]").plain == "[red]sale[/red]"
