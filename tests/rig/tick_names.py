"""The names of all periodic work, as a system that is built from the defaults has them."""

from pathlib import Path

from tidemill.bootstrap.system import build
from tidemill.settings import load_settings


async def tick_names(folder: Path) -> list[str]:
    """Every name, in the order in which work that is due at one moment is done."""
    system = build(load_settings(database=f"sqlite:///{folder / 'ticks.db'}"))
    try:
        return list(system.ticks.chores)
    finally:
        await system.close()
