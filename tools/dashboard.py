"""Grafana's dashboard, as a value: rows of panels with their queries, built with Grafana's own library."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from grafana_foundation_sdk.builders import dashboard as dashboards
from grafana_foundation_sdk.builders import prometheus, stat, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import DataSourceRef

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
PER_ROW, WIDTH, HEIGHT = 4, 24, 7


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: its title, what it tells a person, its unit, and its queries with their legends."""

    title: str
    meaning: str
    queries: Sequence[tuple[str, str]]
    unit: str = "short"
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Panels that belong together."""

    title: str
    panels: Sequence[Panel]


def number(title: str, meaning: str, query: str, unit: str = "short") -> Panel:
    """Return a panel with one number."""
    return Panel(title, meaning, [(query, title)], unit, is_number=True)


def graph(title: str, meaning: str, *queries: tuple[str, str], unit: str = "short") -> Panel:
    """Return a panel with lines over time."""
    return Panel(title, meaning, queries, unit)


def _rate(metric: str, by: str, window: str = "5m") -> str:
    return f"sum by ({by}) (rate({metric}[{window}]))"


NOW = Row(
    "Now",
    [
        number(
            "Open incidents",
            "Whatever people were told of and is not over.",
            "sum(max by (alert, severity) (scraper_incidents_open))",
        ),
        number("Workers", "Processes that are alive.", "max(scraper_workers)"),
        number(
            "Overdue", "Periodic work that has not gone well for three of its periods.", "max(scraper_ticks_overdue)"
        ),
        number(
            "Dead letters",
            "Jobs that failed for good and wait for a person.",
            'max(scraper_dead_letters{status="pending"}) or vector(0)',
        ),
        number(
            "Open breakers", "Sources that are left alone for a while.", 'max(scraper_circuit_breakers{state="OPEN"})'
        ),
        number(
            "Sources available",
            "The share of sources that may be asked.",
            "min(vertical:scrape_sources_available:ratio)",
            "percentunit",
        ),
        number(
            "Oldest source",
            "The longest time since a source last answered well.",
            "max(scrape_source_age_seconds)",
            "s",
        ),
        number(
            "Jobs that wait",
            "Jobs that wait or are in hand.",
            "sum(max by (adapter_id) (scrape_queue_pending)) or vector(0)",
        ),
    ],
)

PAGES = Row(
    "Getting pages",
    [
        graph(
            "Tries",
            "Tries to get a page, by how they ended.",
            (_rate("scrape_urls_attempted_total", "status"), "{{status}}"),
            unit="reqps",
        ),
        graph(
            "Share that failed",
            "Failed jobs among tries of the last hour; over 0.5 it is an alert.",
            ("adapter_id:scrape_failures:ratio1h or adapter_id:scrape_attempts:increase1h * 0", "{{adapter_id}}"),
            unit="percentunit",
        ),
        graph(
            "Answers", "Answers of sites by class.", (_rate("scrape_responses_total", "code"), "{{code}}"), unit="reqps"
        ),
        graph(
            "Content",
            "Bytes of page content received.",
            ("sum(rate(scrape_response_bytes_total[5m]))", "content"),
            unit="Bps",
        ),
        graph(
            "Getting a page takes",
            "95 of 100 pages are got within this, by adapter.",
            ("adapter_id:scrape_fetch_seconds:p95_5m", "{{adapter_id}}"),
            unit="s",
        ),
        graph(
            "Waiting for a host",
            "95 of 100 requests wait no longer in a worker for their host's pace.",
            ("topk(10, domain:scrape_wait_seconds:p95_5m)", "{{domain}}"),
            unit="s",
        ),
        graph(
            "Reading a page takes",
            "95 of 100 pages are read within this, by adapter.",
            (
                "histogram_quantile(0.95, sum by (adapter_id, le) (rate(scrape_extract_duration_seconds_bucket[5m])))",
                "{{adapter_id}}",
            ),
            unit="s",
        ),
        graph(
            "Not asked for",
            "Jobs that we chose not to ask for, and tries that are repeated.",
            ("sum(rate(scrape_urls_refused_total[5m])) or vector(0)", "refused"),
            ("sum(rate(scrape_retries_total[5m])) or vector(0)", "retries"),
            ("sum(rate(scrape_snoozes_total[5m])) or vector(0)", "put off"),
            unit="reqps",
        ),
    ],
)

RECORDS = Row(
    "Records",
    [
        graph(
            "Records read",
            "Raw records, and what the rules made of them.",
            ("sum(rate(scrape_offers_extracted_total[5m]))", "read"),
            ("sum(rate(scrape_offers_valid_total[5m]))", "accepted"),
            ("sum(rate(scrape_offers_dropped_total[5m])) or vector(0)", "dropped"),
            ("sum(rate(scrape_offers_quarantined_total[5m])) or vector(0)", "set aside"),
        ),
        graph(
            "What became of them",
            "Accepted records by what they changed.",
            ("change:scrape_records:rate5m", "{{vertical}} {{change}}"),
        ),
        graph(
            "Why records are dropped",
            "Dropped and quarantined records by rule.",
            ("sum by (reason) (rate(scrape_offers_dropped_total[5m])) or vector(0)", "dropped {{reason}}"),
            ("sum by (reason) (rate(scrape_offers_quarantined_total[5m])) or vector(0)", "set aside {{reason}}"),
        ),
        graph(
            "Records that readers see",
            "By adapter.",
            ("sum by (adapter_id) (max by (adapter_id, source_id) (scrape_source_records))", "{{adapter_id}}"),
        ),
    ],
)

WORK = Row(
    "Work",
    [
        graph("Jobs", "Jobs by state.", ("max by (state) (scraper_jobs)", "{{state}}")),
        graph(
            "Ready jobs",
            "What workers are added for, by lane.",
            ("max by (lane) (tidemill_ready_jobs) or vector(0)", "{{lane}}"),
        ),
        graph("Stages", "Stages finished and safe.", (_rate("scraper_stages_done_total", "stage"), "{{stage}}")),
        graph("Runs", "Runs that ended, by how.", (_rate("scraper_runs_closed_total", "status"), "{{status}}")),
        graph(
            "Safety at work",
            "Jobs rescued from dead workers, results fenced off, trouble with the database, crashes.",
            ("sum(rate(scraper_jobs_rescued_total[5m]))", "rescued"),
            ("sum(rate(scraper_leases_lost_total[5m]))", "leases lost"),
            ("sum(rate(scraper_store_trouble_total[5m]))", "store trouble"),
            ("sum(rate(scraper_part_crashes_total[5m]))", "crashes"),
        ),
        graph(
            "Periodic work",
            "Time since each piece last went well.",
            ("topk(10, max by (tick) (scraper_tick_age_seconds))", "{{tick}}"),
            unit="s",
        ),
        graph(
            "Queue turns away",
            "Targets turned away because the queue is full, and jobs given up.",
            ("sum(rate(scrape_queue_rejected_total[5m])) or vector(0)", "turned away"),
            ("max(scrape_targets_stale)", "given up"),
        ),
        graph("Breakers", "Circuit breakers by state.", ("max by (state) (scraper_circuit_breakers)", "{{state}}")),
    ],
)

LIVE = Row(
    "Live",
    [
        graph(
            "Age of live data",
            "Quantiles of the time since the last check.",
            ("max by (quantile) (scraper_data_staleness_seconds) or vector(0)", "{{quantile}}"),
            unit="s",
        ),
        graph(
            "Watched live",
            "Pages that are polled live, and browser pages in use.",
            ("sum(scraper_contexts_active) or vector(0)", "polled"),
            ("sum(scraper_pages_open) or vector(0)", "open in browsers"),
            ("sum(scraper_pids_current) or vector(0)", "processes of browsers"),
        ),
        graph(
            "Changes",
            "Changes of watched things.",
            ("sum by (kind) (rate(scraper_changes_total[5m])) or vector(0)", "{{kind}}"),
        ),
        graph(
            "Recoveries",
            "Browsers replaced and recoveries begun.",
            ("sum(rate(scraper_recycles_total[5m])) or vector(0)", "recycled"),
            ("sum(rate(scraper_recoveries_total[5m])) or vector(0)", "recoveries"),
        ),
    ],
)

WATCHING = Row(
    "What people are told",
    [
        graph(
            "Incidents",
            "Open incidents by urgency.",
            ("sum by (severity) (max by (alert, severity) (scraper_incidents_open))", "{{severity}}"),
        ),
        graph(
            "Messages",
            "Messages to people by channel, sent and failed.",
            ("sum by (channel, result) (rate(scraper_notices_total[5m])) or vector(0)", "{{channel}} {{result}}"),
        ),
        graph(
            "Services",
            "Outside services that are degraded.",
            ("max by (service) (scraper_service_degraded)", "{{service}}"),
        ),
        graph(
            "Budget left",
            "What is left of each objective's budget of bad minutes.",
            ("max by (objective) (scraper_objective_budget_left)", "{{objective}}"),
            unit="percentunit",
        ),
        graph(
            "Burn",
            "How many times too fast each objective's budget burns.",
            ("max by (objective, window) (scraper_objective_burn)", "{{objective}} {{window}}"),
        ),
    ],
)

PROCESS = Row(
    "Processes",
    [
        graph(
            "Memory",
            "Resident memory.",
            ('process_resident_memory_bytes{job="tidemill"}', "{{instance}}"),
            unit="bytes",
        ),
        graph(
            "Processor",
            "Processor time used.",
            ('rate(process_cpu_seconds_total{job="tidemill"}[5m])', "{{instance}}"),
            unit="percentunit",
        ),
        graph("Open files", "Open files and sockets.", ('process_open_fds{job="tidemill"}', "{{instance}}")),
    ],
)

ROWS = (NOW, PAGES, RECORDS, WORK, LIVE, WATCHING, PROCESS)


def dashboard_json() -> str:
    """Return the dashboard as Grafana imports it."""
    built = (
        dashboards.Dashboard("Tidemill")
        .uid("tidemill")
        .description("How scraping goes, from `/metrics`; written from code, so change it there.")
        .tags(["tidemill"])
        .refresh("30s")
        .time("now-6h", "now")
        .with_variable(dashboards.DatasourceVariable("datasource").label("Prometheus").type("prometheus"))
    )
    numbers = count(1)
    for row in ROWS:
        built = built.with_row(dashboards.Row(row.title).id(next(numbers)))
        for panel in _panels(row, numbers):
            built = built.with_panel(panel)
    return JSONEncoder(sort_keys=True, indent=2).encode(built.build()) + "\n"


def _panels(row: Row, numbers: Iterator[int]) -> Iterator[stat.Panel | timeseries.Panel]:
    for panel in row.panels:
        kind: stat.Panel | timeseries.Panel = stat.Panel() if panel.is_number else timeseries.Panel()
        kind = kind.id(next(numbers)).title(panel.title).description(panel.meaning).unit(panel.unit).datasource(SOURCE)
        for place, (query, legend) in enumerate(panel.queries):
            target = prometheus.Dataquery().expr(query).legend_format(legend).ref_id(chr(ord("A") + place))
            kind = kind.with_target(target.datasource(SOURCE))
        yield kind.span(WIDTH // PER_ROW).height(HEIGHT // 2 + 1 if panel.is_number else HEIGHT)
