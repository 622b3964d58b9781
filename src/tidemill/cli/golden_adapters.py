"""Find adapters and their golden pages: installed ones by id, new ones by their folder."""

import importlib
import importlib.util
import sys
from pathlib import Path

from tidemill.bootstrap.verticals import VERTICALS
from tidemill.core.vertical import Adapter
from tidemill.operations.golden import MANIFEST
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name

GOLDEN = "golden"
AdapterFolder = tuple[Adapter, Path]


def installed_adapters() -> list[AdapterFolder]:
    """Return every installed adapter that has golden pages beside its code."""
    every = [adapter for vertical in VERTICALS.values() for adapter in vertical.adapters.values()]
    return [(adapter, folder) for adapter in every if (folder := golden_folder(adapter)) is not None]


def golden_folder(adapter: Adapter) -> Path | None:
    """Return the folder of an adapter's golden pages, beside its module; None if there is none."""
    file = getattr(sys.modules.get(type(adapter).__module__), "__file__", None)
    folder = Path(file).parent / GOLDEN if file else None
    return folder if folder is not None and (folder / MANIFEST).is_file() else None


def selected_adapters(which: str | None) -> list[AdapterFolder]:
    """Return the adapters that are meant: one by id, those in a folder, or all of them."""
    if which is None:
        return installed_adapters()
    if Path(which).is_dir():
        return adapters_in_folder(Path(which))
    names = {adapter.id: adapter for vertical in VERTICALS.values() for adapter in vertical.adapters.values()}
    if which not in names:
        raise NotFound(unknown_name("adapter", which, names))
    folder = golden_folder(names[which])
    if folder is None:
        msg = f"adapter {which!r} has no golden pages; `tidemill savefixture` saves some"
        raise Mistake(msg)
    return [(names[which], folder)]


def adapters_in_folder(folder: Path) -> list[AdapterFolder]:
    """Return the adapters in the packages of a folder, as `tidemill new adapter` makes them."""
    packages = [each.parent for each in sorted(folder.glob("*/__init__.py"))]
    found = [(adapter, each / GOLDEN) for each in packages if (adapter := _adapter_in(each)) is not None]
    if not found:
        msg = f"there is no adapter in {folder}: a package with `ADAPTER` in it, such as `tidemill new adapter` makes"
        raise Mistake(msg)
    return found


def _adapter_in(package: Path) -> Adapter | None:
    spec = importlib.util.spec_from_file_location(package.name, package / "__init__.py")
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        msg = f"{package} cannot be imported ({type(error).__name__}: {error})"
        raise Mistake(msg) from error
    adapter: Adapter | None = getattr(module, "ADAPTER", None)
    return adapter
