"""Records: none is stored twice, and every one that was read is accounted for."""

from collections import Counter

from tidemill.lab.simulation.laws.finished import FinishedSimulation, LawVerdict, verdict
from tidemill.pipeline.happenings import StageDone


def nothing_doubled(finished: FinishedSimulation) -> LawVerdict:
    """One row per record, one job per target and due time, and no stage of a job done twice."""
    breaches = [
        f"{url} stands {count} times on the shelf"
        for (_, url), count in Counter((each.source_id, each.url) for each in finished.rows.records if each.url).items()
        if count > 1
    ]
    due = Counter((job.target_id, job.due_at, job.page_number) for job in finished.rows.jobs)
    breaches += [
        f"target {key[0]} has {count} jobs for page {key[2]} on {key[1]}" for key, count in due.items() if count > 1
    ]
    done = Counter((event.job_id, event.stage) for event in finished.recorder.events if isinstance(event, StageDone))
    breaches += [f"job {key[0]} did its {key[1]} {count} times" for key, count in done.items() if count > 1]
    checked = f"{len(finished.rows.records)} {finished.noun}, {len(finished.rows.jobs)} jobs, {done.total()} stages"
    return verdict("nothing is doubled", checked, breaches)


def records(finished: FinishedSimulation) -> LawVerdict:
    """Every raw record ends accepted, dropped or quarantined, and every accepted one is stored."""
    total: Counter[str] = Counter()
    breaches = list(finished.inspector.mismatched_pages.values())
    for run in finished.rows.runs.values():
        total.update({name: run[name] for name in run if name.startswith("records_") and run[name]})
        judged = run["records_accepted"] + run["records_dropped"] + run["records_quarantined"]
        if run["records_read"] != judged:
            breaches.append(f"run {run['id']} read {run['records_read']} records and judged {judged}")
    kept = sum(total[f"records_{fate}"] for fate in ("inserted", "updated", "unchanged", "repeated"))
    if total["records_accepted"] != kept + finished.rows.staged:
        breaches.append(
            f"{total['records_accepted']} records accepted, {kept} kept, {finished.rows.staged} on their way"
        )
    checked = f"{total['records_read']} records on {len(finished.inspector.pages_checked)} pages"
    return verdict("every record is accounted for", checked, breaches)
