"""A gazetteer as a file: towns of any country that discovery is to search."""

import csv
import re
from collections.abc import Mapping
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tidemill.core.checks.languages import language_problem
from tidemill.core.discovery.places import Place
from tidemill.core.source import Coordinates

NEEDED = ("name", "region", "country", "population", "latitude", "longitude", "language", "time_zone")
OPTIONAL = ("spoken",)
MOST_PLACES = 100_000
LONGEST_NAME = 100
_BOUNDS = {"population": (0.0, 1e8), "latitude": (-90.0, 90.0), "longitude": (-180.0, 180.0)}
_COUNTRY = re.compile(r"[A-Z]{2}")


def read_gazetteer(content: bytes) -> tuple[list[Place], list[str]]:
    """Return the places of a CSV file, and what is wrong with its other lines."""
    rows = csv.DictReader(content.decode("utf-8-sig", "replace").splitlines())
    names = set(rows.fieldnames or ())
    if missing := [name for name in NEEDED if name not in names]:
        return [], [f"line 1: the columns {', '.join(missing)} are missing; there must be {', '.join(NEEDED)}"]
    if unknown := sorted(names - {*NEEDED, *OPTIONAL}):
        return [], [f"line 1: there is no column {unknown[0]!r}; there may be {', '.join((*NEEDED, *OPTIONAL))}"]
    places: list[Place] = []
    problems: list[str] = []
    for number, row in enumerate(rows, 2):
        if number > MOST_PLACES + 1:
            problems.append(f"line {number}: a file holds {MOST_PLACES} places at most")
            break
        told = {name: (row.get(name) or "").strip() for name in (*NEEDED, *OPTIONAL)}
        if problem := problem_with(told):
            problems.append(f"line {number}: {problem}")
        else:
            places.append(_place(told))
    return places, problems


def problem_with(told: Mapping[str, str]) -> str:
    """Return what is wrong with a line; '' if nothing is."""
    name = told["name"]
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        return f"write a name of 1 to {LONGEST_NAME} letters"
    if not _COUNTRY.fullmatch(told["country"].upper()):
        return f"country {told['country']!r}: write two letters, such as DE"
    if problem := language_problem(told["language"]):
        return f"language: {problem}"
    if not _is_time_zone(told["time_zone"]):
        return f"time_zone {told['time_zone']!r}: write one such as Europe/Berlin"
    numbers = (_problem_with_number(each, told[each], low, high) for each, (low, high) in _BOUNDS.items())
    return next(filter(None, numbers), "")


def _is_time_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _problem_with_number(name: str, text: str, low: float, high: float) -> str:
    try:
        value = float(text)
    except ValueError:
        return f"{name} {text!r}: write a number"
    return "" if low <= value <= high else f"{name} {text}: write {low:g} to {high:g}"


def _place(told: Mapping[str, str]) -> Place:
    return Place(
        told["name"], told["region"][:LONGEST_NAME], int(float(told["population"])),
        Coordinates(float(told["latitude"]), float(told["longitude"])), told["spoken"][:LONGEST_NAME],
        told["country"].upper(), told["language"], told["time_zone"],
    )  # fmt: skip
