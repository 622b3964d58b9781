"""Every planted bug still has its place in the sources; what notices it is found by `make mutants`."""

import runpy


def test_every_planted_bug_has_its_place(project_root):
    mutants = runpy.run_path(str(project_root / "tools" / "mutants.py"))["MUTANTS"]
    sources = project_root / "src" / "tidemill"
    misplaced = [each.what for each in mutants if (sources / each.file).read_text().count(each.old) != 1]
    assert misplaced == []
    assert [
        each.what for each in mutants if not all((project_root / test).exists() for test in each.tests.split())
    ] == []
