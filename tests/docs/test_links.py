"""Every link in our documents leads to a file that exists and, where it names one, a heading in it."""

import re
from collections.abc import Iterator
from pathlib import Path

LINK = re.compile(r"(?<!\!)\[[^\]]+\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)


def documents(root: Path) -> list[Path]:
    return [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "src").rglob("README.md")]


def links_of(text: str) -> Iterator[str]:
    for page, picture in LINK.findall(FENCED.sub("", text)):
        target = page or picture
        if not re.match(r"[a-z]+:", target):
            yield target


def anchors_of(text: str) -> set[str]:
    """The headings as GitHub names them: lower case, no punctuation, dashes for spaces."""
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(FENCED.sub("", text)))
    return {heading.replace(" ", "-") for heading in kept}


def is_broken(link: str, page: Path) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return True
    return bool(anchor) and target.suffix == ".md" and anchor not in anchors_of(target.read_text())


def test_every_link_leads_somewhere(project_root: Path) -> None:
    broken = [
        f"{page.relative_to(project_root)}: {link}"
        for page in documents(project_root)
        for link in links_of(page.read_text())
        if is_broken(link, page)
    ]
    assert broken == []


def test_a_link_to_nothing_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Here it is\n[a](page.md#here-it-is) [b](gone.md) [c](#nowhere) [d](https://example.test/)\n")
    assert [link for link in links_of(page.read_text()) if is_broken(link, page)] == ["gone.md", "#nowhere"]


def test_the_map_names_every_document(project_root: Path) -> None:
    index = project_root / "docs" / "index.md"
    mapped = {(index.parent / link.partition("#")[0]).resolve() for link in links_of(index.read_text())}
    own_lists = {project_root / "docs" / name for name in ("decisions", "runbooks")}
    pages = {page.resolve() for page in (project_root / "docs").rglob("*.md") if own_lists.isdisjoint(page.parents)}
    assert pages - mapped - {index.resolve()} == set()
