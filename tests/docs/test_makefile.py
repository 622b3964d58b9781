import re
import subprocess
from pathlib import Path


def phony_commands(makefile: str) -> set[str]:
    return {word for line in re.findall(r"^\.PHONY:(.*)$", makefile, re.MULTILINE) for word in line.split()}


def test_bare_make_lists_every_command_with_a_line(project_root: Path) -> None:
    shown = subprocess.run(["make"], cwd=project_root, capture_output=True, text=True, check=True).stdout
    listed = dict(re.findall(r"^  ([a-z-]+) +(\S.+)$", shown, re.MULTILINE))
    assert set(listed) == phony_commands((project_root / "Makefile").read_text())
    assert {"demo", "test", "check", "fix", "bench", "lock", "clean"} <= set(listed)


def test_documents_name_only_commands_that_make_knows(project_root: Path) -> None:
    known = phony_commands((project_root / "Makefile").read_text())
    pages = [*project_root.glob("*.md"), *(project_root / "docs").rglob("*.md")]
    named = {word for page in pages for word in re.findall(r"`make ([a-z-]+)", page.read_text())}
    assert named - known == set()
