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
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from tidemill.core.admission import QueueLimits
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
Weight = Annotated[float, Field(ge=0, le=1_000)]


class BadSettings(ValueError):
    """A setting that cannot be used; the message names it and says what to write."""


class HostPace(BaseModel):
    """How often one host name may be asked, apart from its registrable domain; written as a source's pace is."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    interval_seconds: float = Field(2, ge=0, le=86_400)
    burst: int = Field(1, ge=1, le=1_000)
    parallel: int = Field(1, ge=1, le=1_000)


class Settings(BaseSettings):
    """How this installation runs."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", allow_inf_nan=False, validate_default=True
    )

    database: SecretStr = Field(
        SecretStr("sqlite:///tidemill.db"),
        description="Where everything is kept: sqlite:///FILE, or postgresql://USER:PASSWORD@HOST/NAME.",
    )
    pages_folder: Path | None = Field(
        None, description="Where page bodies are kept with SQLite; beside the database file by default."
    )
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
        None, description="Where many machines share their pace: redis://HOST:6379/0; the database alone otherwise."
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

    @field_validator("database", "redis", "broker")
    @classmethod
    def _known_scheme(cls, value: SecretStr | None, field: ValidationInfo) -> SecretStr | None:
        if value is not None and (problem := scheme_problem(str(field.field_name), value.get_secret_value())):
            raise ValueError(problem)
        return value

    @field_validator("scrapingbee_url", "apify_url", "search_url", "llm_url", "geocoder_url")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        if value is not None and (problem := web_address_problem(value)):
            raise ValueError(problem)
        return value

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
    values = {**_from_file(FILE if file is None else file, required=file is not None), **overrides}
    _check_environment()
    try:
        return Settings(**{name: value for name, value in values.items() if _not_in_environment(name, overrides)})
    except ValidationError as error:
        raise BadSettings(_explain(error)) from error


class SettingInfo(msgspec.Struct, frozen=True):
    """A setting as this installation has it: its value without secrets, and where that comes from."""

    name: str
    value: Any
    origin: Literal["default", "file", "environment", "command line"]
    description: str


def describe_settings(file: Path | None = None, **overrides: Any) -> list[SettingInfo]:
    """Return every setting with its value, its origin and its description; passwords are masked."""
    settings = load_settings(file, **overrides)
    written = _from_file(FILE if file is None else file, required=file is not None)
    shown = settings.model_dump(mode="json")
    shown["database"] = masked(settings.database.get_secret_value())
    return [
        SettingInfo(name, shown[name], _origin(name, written, overrides), field.description or "")
        for name, field in Settings.model_fields.items()
    ]


def _origin(
    name: str, written: Mapping[str, Any], overrides: Mapping[str, Any]
) -> Literal["default", "file", "environment", "command line"]:
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
        lines.append(f"{name}: {each['msg']}" if name else each["msg"])
    return "; ".join(lines)
