"""Adapters that are named by their import path, `adapter:package.module:Class`: those that a replay is to try."""

import importlib
import inspect
from typing import Any

from tidemill.core.vertical import Adapter
from tidemill.interop.import_paths import ImportPath, UnusableCode, import_class

NEEDED = {"id": str, "version": str}


def make_named_adapter(path: ImportPath) -> Adapter:
    """Return the adapter that a path names: a class, or a value that is one already.

    Raises:
        UnusableCode: it cannot be imported, or is no adapter.
    """
    found = _imported(path)
    for name, kind in NEEDED.items():
        if not isinstance(getattr(found, name, None), kind):
            msg = f"{path.attribute} in {path.module} is no adapter: it has no `{name}` of type {kind.__name__}"
            raise UnusableCode(msg)
    if not callable(getattr(found, "read", None)):
        msg = f"{path.attribute} in {path.module} is no adapter: it has no method `read(page, context)`"
        raise UnusableCode(msg)
    adapter: Adapter = found
    return adapter


def _imported(path: ImportPath) -> Any:
    try:
        value = getattr(importlib.import_module(path.module), path.attribute, None)
    except Exception:  # noqa: BLE001 - what is wrong with it is said below, in words
        value = None
    if value is not None and not inspect.isclass(value):
        return value
    cls = import_class(path)
    try:
        return cls()
    except Exception as error:
        msg = f"{path.attribute} in {path.module} cannot be made ({type(error).__name__}: {error})"
        raise UnusableCode(msg[:500]) from error
