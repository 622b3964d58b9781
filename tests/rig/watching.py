"""The store of the live lane with a site in it, for tests of what is written."""

from datetime import timedelta

from rig.tallies import TALLIES, TALLY_VERTICAL, TallyThings
from tidemill.core.live.rules import ListedThing, ListReading, Outlook, Phase
from tidemill.core.pacing import Pace
from tidemill.core.source import Source
from tidemill.core.target import Target
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.workers import Workers
from tidemill.store.live.ledger import LiveLedger
from tidemill.store.pages.bodies import bodies_for
from tidemill.store.snapshots.log import SnapshotLog
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.sources.targets import TargetRepository

ADAPTER = "tallies.json"
FREE = Pace(timedelta(0), 1, 100)


class WatchStore:
    """The ledger of the live lane on one database, at a clock that the test sets."""

    def __init__(self, database, clock):
        self.database = database
        self.clock = clock
        self.ids = Ids(database)
        self.bodies = bodies_for(database)
        self.log = SnapshotLog(database)
        self.things = TallyThings()
        self.verticals = {TALLIES: TALLY_VERTICAL}
        self.ledger = LiveLedger(database, self.ids, self.bodies, self.log, self.verticals, {TALLIES: self.things})
        self.workers = Workers(database, self.ids, lease=timedelta(seconds=60), job_limit=timedelta(minutes=30))

    async def source(self, name="arena", pace=FREE):
        host = f"{name}.test"
        wanted = Source(
            id=0, name=name, vertical=TALLIES, base_url=f"https://{host}", adapter_id=ADAPTER, pace=pace
        )  # fmt: skip
        every = [field for field in Source.__struct_fields__ if field != "id"]
        repository = SourceRepository(self.database, self.ids)
        key = (await repository.upsert([(wanted, every)], self.clock.now()))[name][0]
        url = f"https://{host}/live"
        page = Target(id=0, source_id=key, url=url, canonical_url=url, host=host, adapter_id=ADAPTER)
        await TargetRepository(self.database, self.ids).upsert([(page, ["url", "host"])], self.clock.now())
        return await repository.find(name)

    async def list(self, source, *names, is_complete=True):
        """Take in a list that names these tallies."""
        listed = [
            ListedThing(
                source_key=name, url=f"{source.base_url}/tally/{name}", outlook=Outlook(Phase.IN_PLAY), title=name
            )
            for name in names
        ]
        return await self.ledger.put_list(source, ADAPTER, ListReading(listed, is_complete), self.clock.now())

    async def worker(self, name="worker"):
        key = await self.workers.register(name, 1, self.clock.now())
        await self.ledger.beat(key, self.clock.now())
        return key

    async def claim(self, worker, limit=100):
        await self.ledger.open_missing(self.clock.now())
        return await self.ledger.claim(worker, limit, self.clock.now())
