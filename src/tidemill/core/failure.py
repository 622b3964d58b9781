"""One vocabulary of failures, and one table of what each of them means."""

from enum import StrEnum

import msgspec


class FaultOwner(StrEnum):
    """Whose failure it is, as `scraper_errors` names it."""

    NETWORK = "network"
    PARSING = "parsing"
    BROWSER = "browser"
    DATABASE = "database"
    AUTH = "auth"


class Failure(StrEnum):
    """Everything that can go wrong with a job; the value is what people and the database see."""

    TIMED_OUT = "timeout"
    CONNECTION_LOST = "connection_lost"
    TRUNCATED_BODY = "truncated_body"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    CLIENT_ERROR = "client_error"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    TOO_LARGE = "too_large"
    DNS_FAILED = "dns_failed"
    TLS_FAILED = "tls_failed"
    ADDRESS_REFUSED = "address_refused"
    BAD_URL = "bad_url"
    ROBOTS_DISALLOWED = "robots_blocked"
    SOURCE_OFF = "source_off"
    TARGET_OFF = "target_off"
    NOT_COMPLIANT = "not_compliant"
    ADAPTER_OFF = "adapter_off"
    CHANGE_HELD = "change_held"
    HELD_BACK = "held_back"
    OUT_OF_QUOTA = "out_of_quota"
    UNKNOWN_ADAPTER = "unknown_adapter"
    BLOCKED_PAGE = "blocked_page"
    EMPTY_PAGE = "empty_page"
    NOT_HTML = "not_html"
    LAYOUT_CHANGED = "layout_changed"
    ADAPTER_CRASHED = "adapter_crashed"
    NOTHING_USABLE = "nothing_usable"
    PAGE_TOO_HARD = "page_too_hard"
    PAGE_LOST = "page_lost"
    WRITE_FAILED = "db_error"
    WORKER_DIED = "worker_died"
    STALLED = "stalled"
    BROWSER_LOST = "browser_lost"
    BUG = "bug"


class Meaning(msgspec.Struct, frozen=True):
    """What a failure leads to.

    `retry`: the same job may be tried again by itself. `trips_breaker`: it says that the source is unwell.
    `is_drift`: it says that our adapter no longer fits the page. `is_refusal`: we chose not to ask, so it is
    a drop, neither a failure of the source nor a dead letter. `alerts`: a person should look at once.
    """

    retry: bool
    trips_breaker: bool
    is_drift: bool
    is_refusal: bool
    alerts: bool
    fault: FaultOwner


def _row(*, retry: bool, breaker: bool, drift: bool, refusal: bool, alert: bool, fault: FaultOwner) -> Meaning:
    return Meaning(retry, breaker, drift, refusal, alert, fault)


_N, _P, _D, _A, _B = FaultOwner.NETWORK, FaultOwner.PARSING, FaultOwner.DATABASE, FaultOwner.AUTH, FaultOwner.BROWSER

MEANING: dict[Failure, Meaning] = {
    Failure.TIMED_OUT:          _row(retry=True,  breaker=True,  drift=False, refusal=False, alert=False, fault=_N),
    Failure.CONNECTION_LOST:    _row(retry=True,  breaker=True,  drift=False, refusal=False, alert=False, fault=_N),
    Failure.TRUNCATED_BODY:     _row(retry=True,  breaker=True,  drift=False, refusal=False, alert=False, fault=_N),
    Failure.RATE_LIMITED:       _row(retry=True,  breaker=True,  drift=False, refusal=False, alert=False, fault=_N),
    Failure.SERVER_ERROR:       _row(retry=True,  breaker=True,  drift=False, refusal=False, alert=False, fault=_N),
    Failure.FORBIDDEN:          _row(retry=False, breaker=True,  drift=False, refusal=False, alert=False, fault=_A),
    Failure.NOT_FOUND:          _row(retry=False, breaker=False, drift=False, refusal=False, alert=False, fault=_N),
    Failure.CLIENT_ERROR:       _row(retry=False, breaker=True,  drift=False, refusal=False, alert=False, fault=_N),
    Failure.TOO_MANY_REDIRECTS: _row(retry=False, breaker=True,  drift=False, refusal=False, alert=False, fault=_N),
    Failure.TOO_LARGE:          _row(retry=False, breaker=False, drift=False, refusal=False, alert=False, fault=_N),
    Failure.DNS_FAILED:         _row(retry=False, breaker=False, drift=False, refusal=False, alert=True,  fault=_N),
    Failure.TLS_FAILED:         _row(retry=False, breaker=False, drift=False, refusal=False, alert=True,  fault=_N),
    Failure.ADDRESS_REFUSED:    _row(retry=False, breaker=False, drift=False, refusal=False, alert=True,  fault=_N),
    Failure.BAD_URL:            _row(retry=False, breaker=False, drift=False, refusal=False, alert=False, fault=_N),
    Failure.ROBOTS_DISALLOWED:  _row(retry=False, breaker=False, drift=False, refusal=True,  alert=False, fault=_A),
    Failure.SOURCE_OFF:         _row(retry=False, breaker=False, drift=False, refusal=True,  alert=False, fault=_A),
    Failure.TARGET_OFF:         _row(retry=False, breaker=False, drift=False, refusal=True,  alert=False, fault=_A),
    Failure.NOT_COMPLIANT:      _row(retry=False, breaker=False, drift=False, refusal=True,  alert=False, fault=_A),
    Failure.ADAPTER_OFF:        _row(retry=False, breaker=False, drift=False, refusal=True,  alert=False, fault=_P),
    Failure.CHANGE_HELD:        _row(retry=False, breaker=False, drift=False, refusal=True,  alert=False, fault=_P),
    Failure.HELD_BACK:          _row(retry=True,  breaker=False, drift=False, refusal=False, alert=False, fault=_N),
    Failure.OUT_OF_QUOTA:       _row(retry=True,  breaker=False, drift=False, refusal=False, alert=True,  fault=_A),
    Failure.UNKNOWN_ADAPTER:    _row(retry=False, breaker=False, drift=False, refusal=False, alert=True,  fault=_P),
    Failure.BLOCKED_PAGE:       _row(retry=False, breaker=True,  drift=False, refusal=False, alert=False, fault=_A),
    Failure.EMPTY_PAGE:         _row(retry=True,  breaker=True,  drift=False, refusal=False, alert=False, fault=_N),
    Failure.NOT_HTML:           _row(retry=False, breaker=False, drift=True,  refusal=False, alert=False, fault=_P),
    Failure.LAYOUT_CHANGED:     _row(retry=False, breaker=False, drift=True,  refusal=False, alert=False, fault=_P),
    Failure.ADAPTER_CRASHED:    _row(retry=False, breaker=False, drift=True,  refusal=False, alert=True,  fault=_P),
    Failure.NOTHING_USABLE:     _row(retry=False, breaker=False, drift=True,  refusal=False, alert=False, fault=_P),
    Failure.PAGE_TOO_HARD:      _row(retry=False, breaker=False, drift=False, refusal=False, alert=False, fault=_P),
    Failure.PAGE_LOST:          _row(retry=True,  breaker=False, drift=False, refusal=False, alert=True,  fault=_D),
    Failure.WRITE_FAILED:       _row(retry=True,  breaker=False, drift=False, refusal=False, alert=True,  fault=_D),
    Failure.WORKER_DIED:        _row(retry=True,  breaker=False, drift=False, refusal=False, alert=False, fault=_D),
    Failure.STALLED:            _row(retry=True,  breaker=True,  drift=False, refusal=False, alert=True,  fault=_N),
    Failure.BROWSER_LOST:       _row(retry=True,  breaker=False, drift=False, refusal=False, alert=False, fault=_B),
    Failure.BUG:                _row(retry=False, breaker=False, drift=False, refusal=False, alert=True,  fault=_P),
}  # fmt: skip
