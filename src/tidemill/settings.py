"""Every setting, typed and documented; the only reader of the environment.

Settings come from `TIDEMILL_*` variables, then from `tidemill.toml` in the working folder, then from the defaults.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import msgspec
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from tidemill.core.admission import QueueLimits
from tidemill.core.alerts.routes import known_zone, quiet_hours, time_of_day
from tidemill.core.checks.retention import retention_problem
from tidemill.core.checks.setting_checks import (
    domain_problem,
    host_address_problem,
    scheme_problem,
    web_address_problem,
)
from tidemill.core.checks.suggestions import unknown_name
from tidemill.core.pacing import Pace
from tidemill.core.schedules import BadSchedule, Cron, Every, parse_schedule
from tidemill.core.services.degradation import Service
from tidemill.core.urls import BadUrl, host_of
from tidemill.fetching.guard import Allowance

PREFIX = "TIDEMILL_"
FILE = Path("tidemill.toml")

Period = Literal["hour", "day", "month"]
WebOrigin = Annotated[str, Field(pattern=r"^https?://[a-z0-9.-]+(:\d{1,5})?$", max_length=300)]
Origin = Literal["default", "file", "environment", "command line"]
Weight = Annotated[float, Field(ge=0, le=1_000)]


class BadSettings(ValueError):
    """A setting that cannot be used; the message names it and says what to write."""


class HostPace(BaseModel):
    """How often one host name may be asked, apart from its registrable domain; written as a source's pace is."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    interval_seconds: float = Field(2, ge=0, le=86_400)
    burst: int = Field(1, ge=1, le=1_000)
    parallel: int = Field(1, ge=1, le=1_000)


class AlertRoute(BaseModel):
    """What a channel is sent: the severities and verticals that it names."""

    model_config = ConfigDict(extra="forbid")

    severities: list[Literal["P1", "P2", "P3"]] = ["P1", "P2", "P3"]
    verticals: list[str] = []


class ObjectiveSetting(BaseModel):
    """A freshness objective: the share `records` checked `within` a time, in the share `minutes` of `days`."""

    model_config = ConfigDict(extra="forbid")

    vertical: str = Field(min_length=1, max_length=100)
    source: str = Field("", max_length=200)
    within: str = Field(max_length=20)
    records: float = Field(0.95, gt=0, le=1)
    minutes: float = Field(0.99, gt=0, lt=1)
    days: int = Field(28, ge=1, le=90)

    @field_validator("within")
    @classmethod
    def _is_a_time(cls, value: str) -> str:
        length_of(value)
        return value

    @property
    def length(self) -> timedelta:
        """The time within which records are to be checked."""
        return length_of(self.within)


def length_of(text: str) -> timedelta:
    """Return a length of time written as `90s`, `30m`, `6h` or `2d`; raise ValueError with what to write instead."""
    try:
        rhythm = parse_schedule(f"every {text}")
    except BadSchedule:
        rhythm = None
    if not isinstance(rhythm, Every):
        msg = f"{text!r} is no length of time; write 90s, 30m, 6h or 2d"
        raise ValueError(msg)  # noqa: TRY004 - a person's mistake, not a type's
    return rhythm.interval


class Settings(BaseSettings):
    """How this installation runs."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", allow_inf_nan=False, validate_default=True
    )

    _origins: dict[str, Origin] = PrivateAttr(default_factory=dict)

    database: SecretStr = Field(
        SecretStr("sqlite:///tidemill.db"),
        description="Where everything is kept: sqlite:///FILE, or postgresql://USER:PASSWORD@HOST/NAME.",
    )
    database_connections: int = Field(
        15, ge=3, le=1_000, description="Connections to PostgreSQL that one process opens at most."
    )
    database_pooler: bool = Field(
        False,  # noqa: FBT003 - a field's default
        description="Whether `database` leads to a pooler that lends connections by the transaction, like PgBouncer: "
        "then nothing is prepared ahead, and processes are not notified but look by themselves.",
    )
    read_database: SecretStr | None = Field(
        None,
        description="A replica of a PostgreSQL `database`, which answers what readers ask for: "
        "postgresql://USER:PASSWORD@HOST/NAME. While it is away the database itself answers.",
    )
    pages_folder: Path | None = Field(
        None, description="Where page bodies are kept with SQLite; beside the database file by default."
    )
    pages_store: str | None = Field(
        None,
        pattern=r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w./-]*)?$",
        description="An S3-compatible store for page bodies that many machines share: s3://BUCKET/FOLDER; needs "
        "the extra `s3` and PostgreSQL.",
    )
    pages_store_url: str | None = Field(
        None, description="Where that store is, if it is not Amazon's, e.g. https://minio.example:9000."
    )
    pages_store_region: str = Field("us-east-1", pattern=r"^[\w-]+$", description="The region of that store.")
    pages_store_key: SecretStr | None = Field(
        None, description="The store's access key; without it, what the machine itself has (its role, ~/.aws)."
    )
    pages_store_secret: SecretStr | None = Field(None, description="The secret that belongs to `pages_store_key`.")
    user_agent: str = Field(
        "Tidemill/0.1",
        min_length=3,
        max_length=300,
        pattern=r"^[\x20-\x7e]+$",
        description="How we introduce ourselves; sites read it, robots.txt names it.",
    )
    allow_networks: list[str] = Field(
        [], description="Networks that the address guard lets through although they are private, e.g. 127.0.0.0/8."
    )
    host_addresses: dict[str, str] = Field(
        {}, description="Host names answered here instead of by DNS (the lab), e.g. {'a.test': '127.0.0.1'}."
    )
    max_connections: int = Field(256, ge=1, le=10_000, description="Connections open at once.")
    redis: SecretStr | None = Field(
        None,
        description="Where many machines share their pace, and snapshots of what is live: redis://HOST:6379/0; the "
        "database alone otherwise.",
    )
    broker: SecretStr | None = Field(
        None,
        description="Where the Celery engine's wake-ups go: redis://HOST:6379/1 or amqp://USER:PASSWORD@HOST//; needs "
        "the extra `celery` and PostgreSQL. Without it processes look for work by themselves.",
    )
    workers_per_jobs: int = Field(
        10, ge=1, le=10_000, description="Ready jobs for which one more worker is woken over the broker."
    )
    workers_most: int = Field(10, ge=1, le=1_000, description="Workers that are woken at once at most, per lane.")
    roles: list[Literal["web", "worker", "ticks"]] = Field(
        ["web", "worker", "ticks"],
        min_length=1,
        description="What `tidemill up` does in this process: the web app, taking jobs, periodic work; all by default.",
    )
    lanes: list[Literal["http", "browser", "live"]] = Field(
        ["http", "browser", "live"],
        min_length=1,
        description="Lanes whose jobs this process takes: plain pages, pages in a browser, things watched live.",
    )
    worker_name: str | None = Field(
        None,
        min_length=1,
        max_length=100,
        pattern=r"^[\w.@:-]+$",
        description="What this process is called in logs and in the list of workers; its host and number by default.",
    )
    host_paces: dict[str, HostPace] = Field(
        {},
        description="Host names that are asked at a pace of their own, apart from their registrable domain, e.g. "
        "{'api.example.com': {interval_seconds: 0.5, parallel: 2}}.",
    )
    jobs_in_hand: int = Field(600, ge=1, le=10_000, description="Jobs a worker carries at once.")
    reader_processes: int | None = Field(
        None,
        ge=0,
        le=64,
        description="Processes that read pages, so that a page can hurt nobody; 0 reads them in the worker itself. By "
        "default one, with more processors one less than there are, at most 4.",
    )
    reader_cpu_seconds: float = Field(5, gt=0, le=600, description="Processor time that reading one page may take.")
    reader_wall_seconds: float = Field(10, gt=0, le=3_600, description="Time on the clock that reading one may take.")
    reader_megabytes: int = Field(512, ge=64, le=65_536, description="Memory that reading one page may take.")
    reader_max_records: int = Field(
        5_000, ge=1, le=1_000_000, description="Records taken from one page; one with more counts as truncated."
    )
    reader_max_pages: int = Field(
        5_000, ge=1, le=1_000_000, description="A reader that has read so many pages is replaced."
    )
    replay_cpu_share: float = Field(
        0.5, gt=0, le=1, description="Share of the time in which a replay reads pages; it rests for the remainder."
    )
    replay_gate: bool = Field(
        True,  # noqa: FBT003 - a default
        description="Replay pages before a new version of an adapter, or new selectors of a source, may write records.",
    )
    gate_pages: int = Field(200, ge=1, le=100_000, description="Newest pages that the gate replays for one change.")
    gate_lost_percent: float = Field(2, ge=0, le=100, description="Records that a change may lose without a person.")
    gate_added_percent: float = Field(
        10,
        ge=0,
        le=1_000_000,
        description="Records that a change may add to pages which were read before without a person, in percent.",
    )
    gate_field_points: float = Field(
        5, ge=0, le=100, description="Percentage points by which fewer records may have a field without a person."
    )
    gate_identity_percent: float = Field(
        1, ge=0, le=100, description="Records whose identity a change may alter without a person, in percent."
    )
    gate_changed_percent: float = Field(
        5, ge=0, le=100, description="Records in which a change may alter one field without a person, in percent."
    )
    lease_seconds: float = Field(
        60, ge=3, le=86_400, description="After so long without a heartbeat a worker counts as dead."
    )
    database_wait_seconds: float = Field(
        60,
        ge=0,
        le=86_400,
        description="So long `tidemill up` waits at its start for a PostgreSQL that is away; 0 ends at once.",
    )
    look_again_seconds: float = Field(
        30, gt=0, le=86_400, description="Workers that nobody wakes look for work after so long."
    )
    job_limit_minutes: float = Field(
        30, gt=0, le=1_440, description="A job in hand for longer is taken away and failed."
    )
    max_pending_per_adapter: int = Field(20_000, ge=1, le=10_000_000, description="Jobs that may wait per adapter.")
    max_pending: int = Field(50_000, ge=1, le=10_000_000, description="Jobs that may wait in all.")
    queue_retry_minutes: float = Field(5, gt=0, le=1_440, description="When to come back after the queue was full.")
    stale_after_hours: float = Field(24, gt=0, le=8_760, description="Jobs that waited for longer become STALE.")
    ticks: dict[str, str] = Field(
        {}, description="Other rhythms for periodic work, e.g. {dispatch: 'every 5m', maintenance: '0 4 * * *'}."
    )
    retention_days: dict[str, float] = Field(
        {}, description="How long rows are kept per table, in days, e.g. {raw_pages: 30}; the rest by default."
    )
    browser_program: Path | None = Field(
        None, description="The Chromium to run for pages that need JavaScript; looked for in the usual places if unset."
    )
    browser_contexts: int = Field(4, ge=1, le=64, description="Browser pages open at once.")
    browser_contexts_per_host: int = Field(2, ge=1, le=64, description="Of these, at one host.")
    browser_patience_seconds: float = Field(
        5, gt=0, le=120, description="How long a browser page is waited for: its element, or silence on the network."
    )
    browser_max_hours: float = Field(6, gt=0, le=168, description="A browser older than this is replaced.")
    browser_max_pages: int = Field(
        500, ge=1, le=1_000_000, description="A browser that has shown so many pages is replaced."
    )
    browser_soft_megabytes: int = Field(
        1_500, ge=100, le=1_000_000, description="Above this a browser finishes and is replaced."
    )
    browser_hard_megabytes: int = Field(
        2_000, ge=100, le=1_000_000, description="Above this a browser is killed and replaced."
    )
    browser_max_processes: int = Field(80, ge=5, le=10_000, description="With more processes a browser is replaced.")
    browser_idle_minutes: float = Field(
        10, gt=0, le=1_440, description="A browser that nobody used for so long is closed."
    )
    live_interval_seconds: float = Field(
        2.5, ge=0.5, le=3_600, description="Seconds between two polls of a thing that is in play."
    )
    live_busy_seconds: float = Field(
        2, ge=0.5, le=3_600, description="The same when over half of the last ten polls changed something."
    )
    live_break_seconds: float = Field(30, ge=1, le=3_600, description="Seconds between polls during a declared break.")
    live_imminent_seconds: float = Field(
        60, ge=1, le=3_600, description="Seconds between polls of a thing that starts within the hour."
    )
    live_completed_seconds: float = Field(
        300, ge=1, le=86_400, description="Seconds between polls of a thing that has ended, until it is archived."
    )
    live_list_seconds: float = Field(60, ge=1, le=3_600, description="Seconds between polls of a list of things.")
    live_stale_seconds: float = Field(
        300, ge=10, le=86_400, description="A watched page that was not checked for so long is started anew."
    )
    live_timeout_seconds: float = Field(15, ge=1, le=300, description="How long a polled page is waited for.")
    live_scrape_seconds: float = Field(
        45,
        ge=1,
        le=300,
        description="How long a poll may take with its retries, and the longest that it is waited for.",
    )
    live_adaptive_polling: bool = Field(True, description="Poll things that keep changing at `live_busy_seconds`.")  # noqa: FBT003
    live_adaptive_timeouts: bool = Field(True, description="Wait longer for pages that have become slow.")  # noqa: FBT003
    live_pause_failures: int = Field(5, ge=1, le=1_000, description="Failures in a row that pause a thing.")
    live_pause_seconds: float = Field(300, ge=1, le=86_400, description="How long a thing is paused before one try.")
    live_archive_hours: float = Field(24, gt=0, le=8_760, description="Things that have ended are polled for so long.")
    live_watches: int = Field(1_000, ge=1, le=100_000, description="Watches that one process holds at most.")
    live_browser_watches: int = Field(40, ge=0, le=1_000, description="Of these, watches that need a browser page.")
    live_free_megabytes: int = Field(
        500, ge=0, le=1_000_000, description="With less memory free, a process takes no further watches."
    )
    live_buffer_changes: int = Field(
        1_000, ge=1, le=1_000_000, description="Changes kept in memory while the database is away; the rest in a file."
    )
    live_buffer_megabytes: int = Field(10, ge=1, le=10_000, description="The same in megabytes.")
    live_buffer_folder: Path | None = Field(
        None,
        description="Where that file is written; beside the SQLite database, else in the working folder, if unset.",
    )
    live_breaker_failures: int = Field(
        5, ge=1, le=1_000, description="Failures that open the breaker of a live source."
    )
    live_breaker_seconds: float = Field(60, ge=1, le=3_600, description="How long it stays open at first.")
    live_breaker_longest_seconds: float = Field(120, ge=1, le=86_400, description="How long it stays open at most.")
    live_breaker_successes: int = Field(5, ge=1, le=1_000, description="Successes that close it again.")
    feed_weights: dict[Literal["distance", "category", "time", "reliability", "popularity"], Weight] = Field(
        {}, description="How much each reason counts when events are ranked, e.g. {distance: 5, popularity: 0}."
    )
    web_host: str = Field(
        "127.0.0.1", max_length=253, pattern=r"^[a-zA-Z0-9.:_-]+$", description="Address that the web app listens on."
    )
    web_port: int = Field(8420, ge=0, le=65_535, description="Port of the web app; 0 picks a free one.")
    web_allowed_hosts: list[str] = Field(
        [],
        max_length=1_000,
        description="Names the web app may be called by, besides its own address and localhost, e.g. mill.example.",
    )
    web_allowed_origins: list[WebOrigin] = Field(
        [],
        max_length=100,
        description="Origins of other sites whose scripts may call the API, e.g. https://dashboard.example. The portal "
        "stays closed to them, and what they may do is what their token may.",
    )
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=65_535,
        description="Where a process without the web app answers `/metrics` and `/alive`, at the address `web_host`; "
        "0 picks a free port. It answers nothing by default.",
    )
    metrics_sources: int = Field(
        500,
        ge=0,
        le=100_000,
        description="Sources with series of their own in /metrics; the others are added up by adapter, as `other`.",
    )
    web_trusted_proxies: list[str] = Field(
        [],
        max_length=1_000,
        description="Addresses or networks of proxies whose X-Forwarded-For is believed; nobody's otherwise.",
    )
    web_body_bytes: int = Field(
        1_000_000, ge=1_000, le=100_000_000, description="Largest body of a request; files of targets may be larger."
    )
    web_request_seconds: float = Field(
        20, gt=0, le=3_600, description="Within this a caller must have sent its whole request."
    )
    web_connections_per_address: int = Field(
        100, ge=1, le=100_000, description="Connections of one address to the web app."
    )
    api_token: SecretStr | None = Field(
        None, description="Who sends it may act over HTTP as an operator; people and other tokens are in the database."
    )
    watch_token: SecretStr | None = Field(
        None, description="Who sends it may read /status and /metrics from elsewhere; this machine always may."
    )
    public_readers: bool = Field(
        True,  # noqa: FBT003 - a field's default
        description="Whether anybody who reaches the web app may read published events, offers, listings and matches.",
    )
    scrapingbee_key: SecretStr | None = Field(
        None, description="ScrapingBee API key: pages that a site refuses us may be got through it, for money."
    )
    scrapingbee_url: str = Field(
        "https://app.scrapingbee.com/api/v1", description="Where ScrapingBee is; the lab has a stand-in for it."
    )
    scrapingbee_credits: dict[Period, Annotated[int, Field(ge=0, le=1_000_000_000)]] = Field(
        {"hour": 200, "day": 1_000, "month": 10_000},
        description="Credits that may be spent at ScrapingBee in an hour, a day and a month; one left out is no limit.",
    )
    paid_fallback: Literal["never", "chosen", "always"] = Field(
        "chosen",
        description="Whose pages may be paid for when their site refuses us: nobody's, those of sources whose settings "
        "say `paid_fallback: true`, or everybody's but those that say false.",
    )
    apify_token: SecretStr | None = Field(
        None, description="Apify API token: sources can be read by its actors, for money."
    )
    apify_url: str = Field("https://api.apify.com", description="Where Apify is; the lab has a stand-in for it.")
    apify_dollars: dict[Period, Annotated[float, Field(ge=0, le=1_000_000)]] = Field(
        {"hour": 2.0, "day": 10.0, "month": 50.0},
        description="Dollars that may be spent at Apify in an hour, a day and a month; one left out is no limit.",
    )
    search_key: SecretStr | None = Field(
        None, description="Serper.dev API key: discovery searches for agendas of municipalities with it, for money."
    )
    search_url: str = Field("https://google.serper.dev", description="Where Serper is; the lab has a stand-in for it.")
    llm_key: SecretStr | None = Field(
        None, description="Gemini API key: a model is asked what rules are unsure of, for money."
    )
    llm_url: str = Field(
        "https://generativelanguage.googleapis.com", description="Where Gemini is; the lab has a stand-in for it."
    )
    llm_model: str = Field("gemini-2.5-flash-lite", pattern=r"^[\w.-]+$", description="Which model is asked.")
    llm_batch: int = Field(20, ge=1, le=100, description="Questions in one prompt.")
    llm_max_tokens: int = Field(2_048, ge=64, le=65_536, description="Tokens that one reply may have.")
    llm_dollars_per_day: float = Field(1.0, ge=0, le=1_000_000, description="Dollars that the model may cost in a day.")
    llm_dollars_per_pass: float = Field(
        0.05, ge=0, le=1_000_000, description="Dollars that one pass of enrichment may cost."
    )
    llm_price_in: float = Field(
        0.10, ge=0, le=10_000, description="Dollars that a million tokens cost that the model reads."
    )
    llm_price_out: float = Field(
        0.40, ge=0, le=10_000, description="Dollars that a million tokens cost that the model writes."
    )
    geocoder_url: str | None = Field(
        None, description="A geocoder that speaks Nominatim's API: it puts events at their venues, not only their town."
    )
    geocoder_interval_seconds: float = Field(
        1, ge=0, le=3_600, description="Seconds between two questions to the geocoder; the public one asks for 1."
    )
    enrich_with: list[Literal["geocoder", "llm"]] | None = Field(
        None,
        description="Who is asked what rules cannot say; by default, whoever has a key or an address. One named here "
        "that is missing or down leaves runs marked as degraded, and records to be repaired when it comes.",
    )
    service_timeout_seconds: float = Field(
        30, gt=0, le=600, description="How long search, model and geocoder are waited for."
    )
    discovery_places: int = Field(25, ge=1, le=400, description="Municipalities that one discovery searches.")
    discovery_questions_per_month: int = Field(
        1_000, ge=0, le=1_000_000, description="Paid search questions in a calendar month (UTC); 0 asks none."
    )
    discovery_auto_enable: float | None = Field(
        None, ge=0, le=1, description="Candidates of this confidence become sources that are on; else a person decides."
    )
    discovery_noise: list[str] = Field(
        [], description="More sites that are never a town's agenda, as registrable domains."
    )
    discovery_interval_seconds: float = Field(
        2, ge=0, le=3_600, description="Seconds between two requests to one site that discovery looks at."
    )
    discovery_folder: Path | None = Field(
        None, description="Where discovery writes while the database is away; beside the database by default."
    )
    slack_webhook: SecretStr | None = Field(
        None, description="Address of a Slack incoming webhook: alerts and summaries of runs are posted there."
    )
    mail_server: SecretStr | None = Field(
        None, description="Mail server for alerts: smtp://USER:PASSWORD@HOST:587, or smtps://HOST:465."
    )
    mail_from: str = Field("", max_length=300, description="The address that mails are sent from.")
    mail_to: list[str] = Field([], max_length=50, description="The addresses that mails are sent to.")
    alert_webhook_url: SecretStr | None = Field(
        None, description="Address that alerts are posted to as JSON, signed with `alert_webhook_secret`."
    )
    alert_webhook_secret: SecretStr | None = Field(
        None, description="What these posts are signed with (HMAC-SHA256); both sides know it."
    )
    apprise_urls: list[SecretStr] = Field(
        [], max_length=20, description="Addresses of Apprise that alerts go to; needs the extra `apprise`."
    )
    alert_routes: dict[Literal["slack", "mail", "webhook", "apprise"], AlertRoute] = Field(
        {},
        description="What each channel gets, all by default, e.g. {mail: {severities: [P1], verticals: [prices]}}.",
    )
    alert_quiet_hours: str = Field(
        "", description="When only P1 is sent, e.g. 22:00-07:00; the rest goes out when they end."
    )
    alert_zone: str = Field("UTC", description="The time zone of quiet hours and of the digest.")
    alert_digest: list[Literal["P2", "P3"]] = Field(
        [], description="Severities that are sent together once a day instead of one by one."
    )
    alert_digest_at: str = Field("08:00", description="When the digest is sent.")
    runbooks_url: str = Field(
        "docs/runbooks", max_length=500, description="Where runbooks are found, as messages name them."
    )
    objectives: list[ObjectiveSetting] = Field(
        [],
        max_length=200,
        description="Freshness objectives: how many records were checked lately, as {vertical: NAME, within: 36h}.",
    )
    deadman_url: SecretStr | None = Field(
        None,
        description="Address that is called every minute while all scheduled work happens; whoever watches it raises "
        "the alarm when the calls stop.",
    )
    traces_url: SecretStr | None = Field(
        None,
        description="An OpenTelemetry collector, as http://localhost:4318/v1/traces; needs the extra `traces`.",
    )
    traces_headers: dict[str, SecretStr] = Field(
        {}, max_length=20, description="Headers that are sent along to it, such as a key."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="How much is logged.")
    log_format: Literal["text", "json"] = Field("text", description="Logs for people or for machines.")

    @field_validator("web_trusted_proxies")
    @classmethod
    def _are_networks(cls, proxies: list[str]) -> list[str]:
        for each in proxies:
            try:
                ip_network(each)
            except ValueError as error:
                msg = f"{each!r} is neither an address nor a network; write 10.0.0.7 or 10.0.0.0/24"
                raise ValueError(msg) from error
        return proxies

    @field_validator("*", mode="before")
    @classmethod
    def _no_flag_for_a_number(cls, value: object, field: ValidationInfo) -> object:
        if isinstance(value, bool) and "bool" not in str(cls.model_fields[str(field.field_name)].annotation):
            msg = "true and false are no value of it"
            raise ValueError(msg)
        return value

    @field_validator("database", "redis", "broker", "read_database")
    @classmethod
    def _known_scheme(cls, value: SecretStr | None, field: ValidationInfo) -> SecretStr | None:
        if value is not None and (problem := scheme_problem(str(field.field_name), value.get_secret_value())):
            raise ValueError(problem)
        return value

    @field_validator("scrapingbee_url", "apify_url", "search_url", "llm_url", "geocoder_url", "pages_store_url")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        if value is not None and (problem := web_address_problem(value)):
            raise ValueError(problem)
        return value

    @field_validator("slack_webhook", "alert_webhook_url", "deadman_url", "traces_url")
    @classmethod
    def _secret_web_address(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and web_address_problem(value.get_secret_value()):
            msg = "this is no address of the web; write https://HOST/PATH"
            raise ValueError(msg)
        return value

    @field_validator("mail_server")
    @classmethod
    def _mail_scheme(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not re.match(r"smtps?://[^/]*[^/@]", value.get_secret_value()):
            msg = "write smtp://USER:PASSWORD@HOST:587 or smtps://HOST:465"
            raise ValueError(msg)
        return value

    @field_validator("alert_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        return known_zone(value)

    @field_validator("alert_digest_at")
    @classmethod
    def _time_of_day(cls, value: str) -> str:
        time_of_day(value)
        return value

    @field_validator("objectives")
    @classmethod
    def _objectives_differ(cls, value: list[ObjectiveSetting]) -> list[ObjectiveSetting]:
        named = [(each.vertical, each.source) for each in value]
        if twice := next((each for each in named if named.count(each) > 1), None):
            msg = f"there are two objectives for {' '.join(filter(None, twice))}; keep one"
            raise ValueError(msg)
        return value

    @model_validator(mode="after")
    def _alerts_can_be_sent(self) -> Self:
        quiet_hours(self.alert_quiet_hours, self.alert_zone)
        if self.mail_server is not None and not (self.mail_from and self.mail_to):
            msg = "mail_server is set; set mail_from and mail_to as well"
            raise ValueError(msg)
        if self.alert_webhook_url is not None and self.alert_webhook_secret is None:
            msg = "alert_webhook_url is set; set alert_webhook_secret as well, with which posts are signed"
            raise ValueError(msg)
        return self

    @field_validator("allow_networks")
    @classmethod
    def _known_networks(cls, value: list[str]) -> list[str]:
        for text in value:
            Allowance.parse(text)
        return value

    @field_validator("host_addresses")
    @classmethod
    def _plain_addresses(cls, value: dict[str, str]) -> dict[str, str]:
        if problem := next(filter(None, (host_address_problem(*each) for each in value.items())), ""):
            raise ValueError(problem)
        return value

    @field_validator("retention_days")
    @classmethod
    def _known_tables(cls, value: dict[str, float]) -> dict[str, float]:
        if problem := next(filter(None, (retention_problem(*each) for each in value.items())), ""):
            raise ValueError(problem)
        return value

    @field_validator("discovery_noise")
    @classmethod
    def _registrable(cls, value: list[str]) -> list[str]:
        if problem := next(filter(None, map(domain_problem, value)), ""):
            raise ValueError(problem)
        return value

    @model_validator(mode="after")
    def _in_proportion(self) -> Self:
        if self.browser_soft_megabytes > self.browser_hard_megabytes:
            msg = "browser_soft_megabytes is above browser_hard_megabytes; write the smaller one first"
            raise ValueError(msg)
        return self

    @field_validator("ticks")
    @classmethod
    def _readable_rhythms(cls, value: dict[str, str]) -> dict[str, str]:
        for name, rhythm in value.items():
            try:
                parsed = parse_schedule(rhythm)
            except BadSchedule as error:
                msg = f"{name}: {error}"
                raise ValueError(msg) from error
            if not isinstance(parsed, Every | Cron):
                msg = f"{name}: write 'every 5m' or a cron line, not {rhythm!r}"
                raise ValueError(msg)  # noqa: TRY004 - pydantic turns a ValueError into its message
        return value

    @field_validator("host_paces")
    @classmethod
    def _plain_names(cls, value: dict[str, HostPace]) -> dict[str, HostPace]:
        for name in value:
            try:
                plain = host_of(f"http://{name}/")
            except BadUrl:
                plain = ""
            if name != plain:
                msg = f"{name!r} is no plain host name; write it as in api.example.com"
                raise ValueError(msg)
        return value

    @property
    def origins(self) -> dict[str, Origin]:
        """Where each setting comes from; those that are not named have their defaults."""
        return self._origins

    @property
    def own_paces(self) -> dict[str, Pace]:
        """The pace of each host name that has one of its own."""
        return {
            name: Pace(timedelta(seconds=each.interval_seconds), each.burst, each.parallel)
            for name, each in self.host_paces.items()
        }

    @property
    def enrichment_services(self) -> frozenset[Service]:
        """The services that enrichment is set to ask, whether they work or not."""
        if self.enrich_with is not None:
            return frozenset(Service(name) for name in self.enrich_with)
        set_up = {Service.LLM: self.llm_key, Service.GEOCODER: self.geocoder_url}
        return frozenset(service for service, value in set_up.items() if value)

    @property
    def queue_limits(self) -> QueueLimits:
        """How much work may wait."""
        return QueueLimits(
            per_adapter=self.max_pending_per_adapter,
            total=self.max_pending,
            retry_after=timedelta(minutes=self.queue_retry_minutes),
            stale_after=timedelta(hours=self.stale_after_hours),
        )

    def rhythms(self, defaults: Mapping[str, Every | Cron]) -> dict[str, Every | Cron]:
        """Return the rhythms of periodic work, with this installation's own in place of the defaults."""
        unknown = sorted(set(self.ticks) - set(defaults))
        if unknown:
            raise BadSettings(unknown_name("tick", unknown[0], defaults))
        own = {name: parse_schedule(text) for name, text in self.ticks.items()}
        return {**defaults, **{name: rhythm for name, rhythm in own.items() if isinstance(rhythm, Every | Cron)}}


def load_settings(file: Path | None = None, **overrides: Any) -> Settings:
    """Return the settings of this installation; raise BadSettings, with a suggestion where one is near."""
    written = _from_file(FILE if file is None else file, required=file is not None)
    values = {**written, **overrides}
    _check_environment()
    try:
        settings = Settings(**{name: value for name, value in values.items() if _not_in_environment(name, overrides)})
    except ValidationError as error:
        raise BadSettings(_explain(error)) from error
    settings.origins.update({name: _origin(name, written, overrides) for name in Settings.model_fields})
    return settings


class SettingInfo(msgspec.Struct, frozen=True):
    """A setting as this installation has it: its value without secrets, and where that comes from."""

    name: str
    value: Any
    origin: Origin
    description: str


def describe_settings(settings: Settings) -> list[SettingInfo]:
    """Return every setting that is in force with its value, its origin and its description; passwords are masked."""
    shown = settings.model_dump(mode="json")
    shown["database"] = masked(settings.database.get_secret_value())
    return [
        SettingInfo(name, shown[name], settings.origins.get(name, "default"), field.description or "")
        for name, field in Settings.model_fields.items()
    ]


def _origin(name: str, written: Mapping[str, Any], overrides: Mapping[str, Any]) -> Origin:
    if name in overrides:
        return "command line"
    if any(variable.removeprefix(PREFIX).lower().split("__", 1)[0] == name
           for variable in os.environ if variable.startswith(PREFIX)):  # fmt: skip
        return "environment"
    return "file" if name in written else "default"


def masked(url: str) -> str:
    """Return a database's address without its password."""
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", url)


def _not_in_environment(name: str, overrides: Mapping[str, Any]) -> bool:
    """Whether the file's value counts: the environment goes before the file, the command line before both."""
    return name in overrides or f"{PREFIX}{name.upper()}" not in os.environ


def _from_file(file: Path, *, required: bool) -> dict[str, Any]:
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError as error:
        if not required:
            return {}
        msg = f"there is no settings file {str(file)!r}"
        raise BadSettings(msg) from error
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{file} cannot be read: {error}"
        raise BadSettings(msg) from error
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        msg = f"{file} is not TOML: {error}"
        raise BadSettings(msg) from error
    for name in values:
        if name not in Settings.model_fields:
            raise BadSettings(f"{file}: " + unknown_name("setting", name, Settings.model_fields))
    return values


def _check_environment() -> None:
    for variable in sorted(os.environ):
        name = variable.removeprefix(PREFIX).lower().split("__", 1)[0]
        if variable.startswith(PREFIX) and name not in Settings.model_fields:
            raise BadSettings(f"{variable}: " + unknown_name("setting", name, Settings.model_fields))


def _explain(error: ValidationError) -> str:
    """Return every error on a line of its own; values are left out, because they may be secret."""
    lines = []
    for each in error.errors(include_input=False, include_url=False):
        name = ".".join(str(part) for part in each["loc"])
        said = each["msg"].removeprefix("Value error, ")
        lines.append(f"{name}: {said}" if name else said)
    return "; ".join(lines)
