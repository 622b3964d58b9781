"""One is one, whatever is counted, and no title writes a number beside a plural by itself."""

import re
from pathlib import Path

import pytest

import tidemill
from tidemill.terminal.counting import counted

BY_HAND = re.compile(r'print_table\(\s*f"\{len\(')


@pytest.mark.parametrize(
    ("count", "names", "words"),
    [(0, ("replay",), "0 replays"), (1, ("replay",), "1 replay"), (2, ("replay",), "2 replays"),
     (1, ("match", "matches"), "1 match"), (3, ("match", "matches"), "3 matches"), (1200, ("row",), "1,200 rows")],
)  # fmt: skip
def test_things_are_counted_as_people_say_it(count: int, names: tuple[str, ...], words: str):
    assert counted(count, *names) == words


def test_no_title_of_a_table_counts_by_hand():
    root = Path(tidemill.__file__).parent
    files = [*root.glob("cli/**/*"), *root.glob("verticals/*/commands/*")]
    texts = [(file.name, file.read_text()) for file in files if file.suffix in {".py", ".txt"}]
    assert [name for name, text in texts if BY_HAND.search(text)] == []
