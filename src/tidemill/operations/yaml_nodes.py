"""Untrusted YAML as nodes with line numbers: bounded depth and size, plain data only."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.representer import SafeRepresenter

from tidemill.operations.plans import LARGEST_FILE, ProblemList

DEEPEST = 30
MOST_NODES = 2_000_000
"""Names and values in one file: several hundred thousand targets."""
LARGEST_VALUE = 5_000
"""Values in one setting, aliases written out: more is a mistake, or an attack by aliases of aliases."""


class BadValue(ValueError):
    """A value that is invalid for its field; the message says what to write."""

    def __init__(self, message: str, field: str = "") -> None:
        """`field` names the field, where the caller does not know it."""
        super().__init__(message)
        self.field = field


class _BoundedLoader(Composer, yaml.CSafeLoader):
    """Makes nodes of a file's events one by one: no deeper and no more than is read; other threads have their turns.

    libyaml's own composer keeps the interpreter until it has the whole file, and nests as deep as that.
    """

    def __init__(self, text: str) -> None:
        """Read `text`."""
        yaml.CSafeLoader.__init__(self, text)
        Composer.__init__(self)
        self._depth = self._nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node with all that is in it; raise for one too deep or too many."""
        self._depth += 1
        self._nodes += 1
        event: Any = self.peek_event()
        if self._nodes > MOST_NODES or (self._depth > DEEPEST and isinstance(event, yaml.CollectionStartEvent)):
            reason = f"nested over {DEEPEST} deep" if self._depth > DEEPEST else f"over {MOST_NODES} values; split it"
            raise yaml.MarkedYAMLError(None, None, reason, event.start_mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def parse(content: bytes, problems: ProblemList) -> yaml.Node | None:
    """Return the file's root node, or None after adding the problem."""
    if len(content) > LARGEST_FILE:
        problems.add(0, "", f"the file has {len(content)} bytes, over the {LARGEST_FILE} that are read; split it")
        return None
    try:
        node = _BoundedLoader(content.decode("utf-8-sig")).get_single_node()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problems.add(line, "", f"the byte {content[error.start]:#04x} is not UTF-8; save the file as UTF-8")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        problems.add(line, "", f"this is not YAML: {error.problem} (line {line}, column {column})")
    except yaml.YAMLError as error:
        problems.add(0, "", f"this is not YAML: {' '.join(str(error).split())}")
    else:
        if node is None:
            problems.add(0, "", "the file is empty; list sources in it, each after a dash")
        return node
    return None


def node_of(value: Any) -> yaml.Node:
    """Return plain data as a node without a line, so that a program's entries are read by the same code."""
    return SafeRepresenter().represent_data(value)


def line_of(node: yaml.Node) -> int:
    """Return the line from 1; 0 for nodes that are not from a file."""
    return node.start_mark.line + 1 if node.start_mark else 0


def items_of(node: yaml.Node) -> Sequence[yaml.Node]:
    """Return the items of a list; raise `BadValue` for anything else."""
    if not isinstance(node, yaml.SequenceNode):
        msg = "write a list here: one item per line, each after a dash"
        raise BadValue(msg)
    items: Sequence[yaml.Node] = node.value
    return items


def fields_of(node: yaml.Node) -> dict[str, yaml.Node]:
    """Return the fields of a mapping by name; raise `BadValue` for anything else."""
    if not isinstance(node, yaml.MappingNode):
        msg = "write fields here: `name: value`, one per line"
        raise BadValue(msg)
    fields: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else "?"
        if name == "<<":
            msg = "merge keys (<<) are not read here; write the fields out"
            raise BadValue(msg)
        if name in fields:
            msg = f"the field {name!r} is here twice (again on line {line_of(key)}); keep one"
            raise BadValue(msg)
        fields[name] = value
    return fields


def is_null(node: yaml.Node) -> bool:
    """Return whether the value is null."""
    return bool(node.tag == "tag:yaml.org,2002:null")


def text_of(node: yaml.Node) -> str:
    """Return text as it was written: `no` is the language, not false."""
    if not isinstance(node, yaml.ScalarNode) or is_null(node) or not node.value.strip():
        msg = "write some text here"
        raise BadValue(msg)
    return str(node.value).strip()


def value_of(node: yaml.Node) -> Any:
    """Return plain JSON data of any type."""
    if _count(node, LARGEST_VALUE) > LARGEST_VALUE:
        msg = f"this holds over {LARGEST_VALUE} values; keep settings small"
        raise BadValue(msg)
    try:
        return msgspec.to_builtins(SafeConstructor().construct_document(node), str_keys=True)
    except (yaml.YAMLError, ValueError, TypeError) as error:
        msg = f"this value cannot be read: {' '.join(str(error).split())}"
        raise BadValue(msg) from error


def mapping_of(node: yaml.Node) -> Mapping[str, Any]:
    """Return a plain JSON object."""
    value = value_of(node)
    if not isinstance(value, dict):
        msg = "write fields here: `name: value`, one per line"
        raise BadValue(msg)
    return value


def _count(node: yaml.Node, limit: int) -> int:
    """Return how many values a node holds with aliases expanded, counting no further than just over `limit`."""
    waiting, count = [node], 0
    while waiting and count <= limit:
        current = waiting.pop()
        count += 1
        if isinstance(current, yaml.MappingNode):
            waiting += [part for pair in current.value for part in pair]
        elif isinstance(current, yaml.SequenceNode):
            waiting += current.value
    return count
