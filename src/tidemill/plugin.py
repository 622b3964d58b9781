"""What a vertical hands to the system in one value, and what it is given to build its parts from.

The value itself costs nothing to import: each method imports its part when it is asked for, so that `tidemill --help`
and a process that only reads pages stay quick.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:  # named in annotations only: see above
    from pathlib import Path

    from tidemill.core.services.degradation import Service
    from tidemill.core.snapshots.changes import LabelsOf
    from tidemill.core.snapshots.shared_keys import SharedNames
    from tidemill.core.source import FetcherKind
    from tidemill.core.vertical import Vertical
    from tidemill.engine.periodic import Chore
    from tidemill.lab.part import LabPart
    from tidemill.operations.exporting.dataset import ExportDataset
    from tidemill.operations.plans import TargetTemplate
    from tidemill.operations.scoring.score import Score
    from tidemill.operations.webhooks.feeds import ChangeFeed
    from tidemill.operations.why.explanation import Explainer
    from tidemill.pipeline.dispatch import Dispatcher
    from tidemill.pipeline.enrich import RecordRepairs
    from tidemill.pipeline.happenings import Announce
    from tidemill.pipeline.ports import Clock, Fetcher
    from tidemill.pipeline.reader_functions.function import FunctionReaders
    from tidemill.settings import Settings
    from tidemill.store.database.database import Database
    from tidemill.store.database.keys import Ids
    from tidemill.store.ledger.scheduling import DispatchRepository
    from tidemill.store.records.checked import CheckedRecordCounter
    from tidemill.store.records.corrections import RecordCorrections
    from tidemill.store.records.live import LiveThings
    from tidemill.store.records.repository import RecordRepository
    from tidemill.store.sources.sources import SourceRepository
    from tidemill.store.sources.targets import TargetRepository
    from tidemill.store.upkeep.audit import AuditLog
    from tidemill.store.views.totals import RecordCounter
    from tidemill.store.views.views import Views
    from tidemill.web.deps import WebDeps
    from tidemill.web.extension import WebExtension

GROUP = "tidemill.verticals"
"""The entry points under which installed packages bring verticals."""


class Command(NamedTuple):
    """A command of `tidemill`: the panel and the line of help it is listed with, the module that holds its `app`.

    It is listed after the command named `after`, at the end of its panel without one.
    """

    panel: str
    help: str
    module: str
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEnvironment:
    """What a vertical's own tables are built on; `asks` are the services that may be asked to enrich records."""

    database: "Database"
    ids: "Ids"
    sources: "SourceRepository"
    targets: "TargetRepository"
    asks: "frozenset[Service]"


@dataclass(frozen=True, kw_only=True)
class VerticalStore:
    """A vertical's own tables; each vertical adds its own repositories and views.

    `counter` counts its records, `checked` those that were checked lately (without it nobody can set an objective for
    them), and `enrichment` puts answers into records that were stored before the answer came,
    where the vertical has any. `labels` tells what lists and streams choose its things by; without it, their status.
    `shared` names its things in Redis, where other programs may read them; without it they are not there. `live` keeps
    which thing a site's id means, where its things are watched live. `replays` brings what an accepted replay read into
    the records; without it they only change by what is seen.
    """

    repository: "RecordRepository"
    counter: "RecordCounter | None" = None
    checked: "CheckedRecordCounter | None" = None
    enrichment: "RecordRepairs | None" = None
    labels: "LabelsOf | None" = None
    shared: "SharedNames | None" = None
    live: "LiveThings | None" = None
    replays: "RecordCorrections | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What a vertical builds its actions and chores from: the parts of the running system.

    `wake` tells workers that there are so many jobs for them; `readers` read what was scraped.
    """

    settings: "Settings"
    clock: "Clock"
    announce: "Announce"
    store: StoreEnvironment
    views: "Views"
    audit: "AuditLog"
    agenda: "DispatchRepository"
    dispatcher: "Dispatcher"
    fetchers: "Mapping[FetcherKind, Fetcher]"
    verticals: "Mapping[str, Vertical]"
    wake: Callable[[int], None]
    readers: "FunctionReaders"


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a vertical does in one running system; each vertical adds its own actions.

    `chores` is its periodic work, `explainers` what `tidemill why` can explain of it, `templates` the settings of its
    sources from which targets are made, `datasets` what can be exported, `feeds` the changes that programs can
    subscribe to. `after_runs` is done soon after runs have ended, once for several of them.
    `tasks` are what a person can send to the workers of a cluster by name; `Plugin.tasks` lists the names.
    `overdue_scopes` names the lists, such as markets, that were not read in time, each with words; people are alerted.
    """

    chores: "Sequence[Chore]" = field(default_factory=tuple)
    explainers: "Sequence[Explainer]" = field(default_factory=tuple)
    templates: "Sequence[TargetTemplate]" = field(default_factory=tuple)
    datasets: "Sequence[ExportDataset]" = field(default_factory=tuple)
    feeds: "Sequence[ChangeFeed]" = field(default_factory=tuple)
    after_runs: "Sequence[Callable[[], Awaitable[object]]]" = field(default_factory=tuple)
    tasks: "Mapping[str, Callable[..., Coroutine[Any, Any, str]]]" = field(default_factory=dict)
    overdue_scopes: "Callable[[], Awaitable[Sequence[tuple[str, str]]]] | None" = None


Own = TypeVar("Own", bound=VerticalStore)
Part = TypeVar("Part", bound=Parts)


def part_of(parts: Mapping[str, Parts], kind: type[Part]) -> Part:
    """The parts of the vertical whose own kind this is."""
    return next(each for each in parts.values() if isinstance(each, kind))


class RunningSystem(Protocol):
    """As much of a running system as a vertical's command needs."""

    @property
    def clock(self) -> "Clock":
        """Its time."""
        ...

    def part(self, kind: type[Part]) -> Part:
        """What a vertical does in it, by the kind of its parts."""
        ...


class Plugin(ABC, Generic[Own, Part]):
    """One kind of data, all of it: what `VERTICAL` in a vertical's `__init__.py` is.

    `migrations` is the package that holds its Alembic steps, '' where they are among Tidemill's own. `needs_approval`
    repeats what its policy says of terms of service, for those who must not wait until it is loaded; None asks the
    policy.
    """

    name: ClassVar[str]
    commands: ClassVar[Mapping[str, Command]] = {}
    tasks: ClassVar[Sequence[str]] = ()
    migrations: ClassVar[str] = ""
    needs_approval: ClassVar[bool | None] = None

    @abstractmethod
    def load(self) -> "Vertical":
        """The pure part: policy, adapters and rules."""

    @abstractmethod
    def store(self, environment: StoreEnvironment) -> Own:
        """Its tables, and what reads and writes them."""

    @abstractmethod
    def build(self, environment: Environment, store: Own) -> Part:
        """Its actions and chores in a running system."""

    def web(self, deps: "WebDeps", parts: Part) -> "WebExtension | None":  # noqa: ARG002 - for those who have pages
        """Its routes and pages; None if it has none."""
        return None

    def lab(self) -> "LabPart | None":
        """The sites, demo and simulation that it brings to the lab; None if it brings none."""
        return None

    def scores(self, folder: "Path", time_zone: str) -> "Sequence[Score]":  # noqa: ARG002 - for those who read pages
        """How well it reads the saved pages of a folder, for `tidemill score`; `time_zone` is that of the pages."""
        return ()
