"""Events onto the repository without a site: a run of a source that ends with what a test says."""

from datetime import timedelta

import msgspec

from rig.mill import accept
from tidemill.core.outcome import Advance, Stage
from tidemill.pipeline.checkpoints import AcceptedRecords, Judged


async def shelve(mill, source_id, *told, later=timedelta(days=1)):
    """Let a run of the source end, a day later, with these events on the repository; answers the run."""
    mill.clock.advance(later)
    await mill.enqueue(source_id)
    (claimed,) = await mill.claim(await mill.worker())
    judged = Judged(mill.page(), "events.generic@1.0.0", [accept(one.fingerprint, one) for one in told], [])
    persisting = msgspec.structs.replace(claimed, job=msgspec.structs.replace(claimed.job, stage=Stage.PERSIST))
    await mill.commit((persisting, Advance(Stage.COMPLETED, AcceptedRecords(judged, judged.accepted, 0))))
    return await mill.ledger.runs.close(claimed.job.run_id, mill.clock.now())
