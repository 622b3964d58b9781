import pytest

from tidemill.core.source import Source
from tidemill.operations.plans import KnownAdapters, Problem, ProblemList, TargetPlan
from tidemill.operations.target_file import count_lines, read_targets

pytestmark = pytest.mark.shows("S2")

KNOWN = KnownAdapters({"events": {"events.generic", "events.selectors"}})
SOURCES = {
    name: Source(id=key, name=name, vertical="events", base_url=f"https://{name}.example", adapter_id="events.generic")
    for key, name in enumerate(("jazzclub", "theater"), start=1)
}


def read(content: str | bytes) -> tuple[list[TargetPlan], list[Problem]]:
    troubles = ProblemList()
    encoded = content.encode() if isinstance(content, str) else content
    return list(read_targets(encoded, SOURCES, KNOWN, troubles)), troubles.found


def test_every_column_is_read() -> None:
    [plan], problems = read(
        "url,source,adapter,schedule,priority,notes\n"
        'https://jazzclub.example/a?utm_source=x,jazzclub,events.selectors,every 6h,7,"old, but good"\n'
    )
    target = plan.target
    assert problems == []
    assert (target.source_id, target.canonical_url, target.host) == (
        1,
        "https://jazzclub.example/a",
        "jazzclub.example",
    )
    assert (target.adapter_id, target.schedule, target.priority) == ("events.selectors", "every 6h", 7)
    assert target.notes == "old, but good"


def test_columns_may_be_left_out_or_stand_in_any_order() -> None:
    [plan], problems = read("Source,URL\ntheater,/agenda\n")
    assert problems == []
    assert plan.target.url == "https://theater.example/agenda"
    assert plan.target.adapter_id == "events.generic"
    assert plan.fields == {"host"}


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffurl;source\r\n/a;jazzclub\r\n".encode(),
        "url\tsource\n/a\tjazzclub\n".encode("utf-16"),
        b"url,source,notes\n/a,jazzclub,caf\xe9\n",
        b"url,source\n\n , \n/a,jazzclub\n\n",
        b"url,source\n/a,jazzclub",
    ],
    ids=["bom-and-semicolons", "utf-16-and-tabs", "windows", "blank-lines", "no-last-line-end"],
)
def test_what_spreadsheets_save_is_read(content: bytes) -> None:
    plans, problems = read(content)
    assert problems == []
    assert [plan.target.url for plan in plans] == ["https://jazzclub.example/a"]


def test_bad_rows_are_told_by_line_and_good_ones_kept() -> None:
    plans, problems = read(
        "url,source,schedule,priority,adapter\n"
        "/good,jazzclub,,,\n"
        "ftp://x,jazzclub,,,\n"
        "/a,jazclub,,,\n"
        "/b,jazzclub,often,,\n"
        "/c,jazzclub,,high,\n"
        "/d,jazzclub,,,events.genric\n"
        "/e,,,,\n"
        ",jazzclub,,,\n"
        "/f,jazzclub,,,,,\n"
        "/good/,jazzclub,,,\n"
        "/also-good,theater,@daily,,\n"
    )
    assert [plan.target.canonical_url for plan in plans] == [
        "https://jazzclub.example/good",
        "https://theater.example/also-good",
    ]
    assert [(each.line, each.field) for each in problems] == [
        (3, "url"), (4, "source"), (5, "schedule"), (6, "priority"), (7, "adapter"), (8, "source"), (9, "url"),
        (10, ""), (11, "url"),
    ]  # fmt: skip
    said = {each.line: each.message for each in problems}
    assert "did you mean 'jazzclub'?" in said[4]
    assert "did you mean 'events.generic'?" in said[7]
    assert "same page as on line 2" in said[11]


def test_a_header_of_very_many_columns_is_one_problem() -> None:
    plans, [problem] = read("a," * 100_000 + "b\n")
    assert plans == []
    assert problem.message.startswith("the first line names 100001 columns")


def test_a_quote_that_is_never_closed_costs_only_its_own_row() -> None:
    plans, problems = read(
        'url,source,notes\n/a,jazzclub,"oops\n/b,jazzclub,fine\n/c,jazzclub,"two\nlines"\n/d,theater\n'
    )
    assert [plan.target.url for plan in plans] == [
        "https://jazzclub.example/b", "https://jazzclub.example/c", "https://theater.example/d"
    ]  # fmt: skip
    assert [each.line for each in problems] == [2]
    assert "quotes" in problems[0].message
    assert [plan.line for plan in plans] == [3, 4, 6]


@pytest.mark.parametrize(
    ("header", "field", "words"),
    [
        ("", "url", "must name the column 'url'"),
        ("/a,jazzclub", "/a", "unknown column '/a'"),
        ("url,sauce", "sauce", "did you mean 'source'?"),
        ("url,url,source", "url", "once"),
    ],
)
def test_a_header_that_is_missing_or_misspelt_stops_the_file(header: str, field: str, words: str) -> None:
    plans, problems = read(f"{header}\n/a,jazzclub\n" if header else "")
    assert plans == []
    assert (problems[0].line, problems[0].field) == (1, field)
    assert words in problems[0].message


def test_a_file_full_of_problems_is_not_read_to_its_end() -> None:
    _, problems = read("url,source\n" + "x,y\n" * 5_000)
    assert len(problems) == 1_001
    assert "was not read" in problems[-1].message


def test_a_file_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemill.operations.target_file.LARGEST_FILE", 10)
    assert "split it" in read("url,source\n/a,jazzclub")[1][0].message


def test_a_file_is_read_no_further_than_its_targets_are_taken() -> None:
    troubles = ProblemList()
    plans = read_targets(b"url,source\n/a,jazzclub\n/b,nobody\n/c,theater\n", SOURCES, KNOWN, troubles)
    assert next(plans).line == 2
    assert troubles.found == []
    assert [plan.line for plan in plans] == [4]
    assert [problem.line for problem in troubles.found] == [3]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_file_never_holds_more_targets_than_are_allowed_for(end: str, encoding: str) -> None:
    content = end.join(["url,source", *(f"/{number},jazzclub" for number in range(10))]).encode(encoding)
    assert len(read(content)[0]) == 10 <= count_lines(content)
