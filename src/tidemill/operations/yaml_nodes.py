"""YAML as nodes that know their lines, read with distrust: bounded depth and size, nothing but plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import yaml
from yaml.constructor import SafeConstructor
from yaml.representer import SafeRepresenter

from tidemill.operations.plans import LARGEST_FILE, Troubles

DEEPEST = 30
LARGEST_VALUE = 5_000
"""Values in one setting, aliases written out: more is a mistake, or an attack by aliases of aliases."""


class BadValue(ValueError):
    """A value that does not fit its field; the message says what to write."""

    def __init__(self, message: str, field: str = "") -> None:
        """`field` says which one it is, where the reader does not know."""
        super().__init__(message)
        self.field = field


def parse(content: bytes, troubles: Troubles) -> yaml.Node | None:
    """The file's node, or None with the reason noted; a mistake in the YAML itself is told by line and column."""
    if len(content) > LARGEST_FILE:
        troubles.add(0, "", f"the file has {len(content)} bytes, over the {LARGEST_FILE} that are read; split it")
        return None
    try:
        text = content.decode("utf-8-sig")
        _check_depth(text)
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.CSafeLoader)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        troubles.add(line, "", f"the byte {content[error.start]:#04x} is not UTF-8; save the file as UTF-8")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        troubles.add(line, "", f"this is not YAML: {error.problem} (line {line}, column {column})")
    except yaml.YAMLError as error:
        troubles.add(0, "", f"this is not YAML: {' '.join(str(error).split())}")
    else:
        if node is None:
            troubles.add(0, "", "the file is empty; list sources in it, each after a dash")
        return node
    return None


def _check_depth(text: str) -> None:
    """Refuse what is nested too deeply before composing it, which would run out of stack."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                mark: Any = event.start_mark
                raise yaml.MarkedYAMLError(None, None, f"nested over {DEEPEST} deep", mark)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def node_of(value: Any) -> yaml.Node:
    """Plain data as a node, so that entries made by a program are read by the same rules; they have no lines."""
    return SafeRepresenter().represent_data(value)


def line_of(node: yaml.Node) -> int:
    """The line, from 1; 0 for nodes that were never in a file."""
    return node.start_mark.line + 1 if node.start_mark else 0


def items_of(node: yaml.Node) -> Sequence[yaml.Node]:
    """The items of a list."""
    if not isinstance(node, yaml.SequenceNode):
        msg = "write a list here: one item per line, each after a dash"
        raise BadValue(msg)
    items: Sequence[yaml.Node] = node.value
    return items


def fields_of(node: yaml.Node) -> dict[str, yaml.Node]:
    """The fields of a mapping by name."""
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
    """Whether nothing was written."""
    return bool(node.tag == "tag:yaml.org,2002:null")


def text_of(node: yaml.Node) -> str:
    """Text as it was written: `no` is the language, not a no."""
    if not isinstance(node, yaml.ScalarNode) or is_null(node) or not node.value.strip():
        msg = "write some text here"
        raise BadValue(msg)
    return str(node.value).strip()


def value_of(node: yaml.Node) -> Any:
    """Plain JSON data of any shape."""
    if _count(node, LARGEST_VALUE) > LARGEST_VALUE:
        msg = f"this holds over {LARGEST_VALUE} values; keep settings small"
        raise BadValue(msg)
    try:
        return msgspec.to_builtins(SafeConstructor().construct_document(node), str_keys=True)
    except (yaml.YAMLError, ValueError, TypeError) as error:
        msg = f"this value cannot be read: {' '.join(str(error).split())}"
        raise BadValue(msg) from error


def mapping_of(node: yaml.Node) -> Mapping[str, Any]:
    """Plain JSON data under names."""
    value = value_of(node)
    if not isinstance(value, dict):
        msg = "write fields here: `name: value`, one per line"
        raise BadValue(msg)
    return value


def _count(node: yaml.Node, limit: int) -> int:
    """How many values a node holds with its aliases written out, counting no further than just over `limit`."""
    waiting, count = [node], 0
    while waiting and count <= limit:
        current = waiting.pop()
        count += 1
        if isinstance(current, yaml.MappingNode):
            waiting += [part for pair in current.value for part in pair]
        elif isinstance(current, yaml.SequenceNode):
            waiting += current.value
    return count
