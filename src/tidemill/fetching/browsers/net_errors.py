"""Map Chromium's navigation errors to our failures."""

from tidemill.core.failure import Failure
from tidemill.pipeline.ports import WireFailure

# In order: the first that the error's name starts with.
_MEANINGS = (
    ("ERR_CERT_", Failure.TLS_FAILED),
    ("ERR_SSL_", Failure.TLS_FAILED),
    ("ERR_BAD_SSL_", Failure.TLS_FAILED),
    ("ERR_ECH_", Failure.TLS_FAILED),
    ("ERR_NAME_", Failure.DNS_FAILED),
    ("ERR_ICANN_", Failure.DNS_FAILED),
    ("ERR_TIMED_OUT", Failure.TIMED_OUT),
    ("ERR_CONNECTION_TIMED_OUT", Failure.TIMED_OUT),
    ("ERR_TOO_MANY_REDIRECTS", Failure.TOO_MANY_REDIRECTS),
    ("ERR_UNSAFE_PORT", Failure.ADDRESS_REFUSED),
    ("ERR_UNSAFE_REDIRECT", Failure.ADDRESS_REFUSED),
    ("ERR_BLOCKED_BY_PRIVATE_NETWORK", Failure.ADDRESS_REFUSED),
    ("ERR_INVALID_URL", Failure.BAD_URL),
    ("ERR_INVALID_REDIRECT", Failure.BAD_URL),
    ("ERR_UNKNOWN_URL_SCHEME", Failure.BAD_URL),
    ("ERR_DISALLOWED_URL_SCHEME", Failure.BAD_URL),
    ("ERR_CONTENT_LENGTH_MISMATCH", Failure.TRUNCATED_BODY),
    ("ERR_INCOMPLETE_CHUNKED", Failure.TRUNCATED_BODY),
    ("ERR_CONTENT_DECODING", Failure.TRUNCATED_BODY),
    ("ERR_HTTP2_", Failure.SERVER_ERROR),
    ("ERR_INVALID_", Failure.SERVER_ERROR),
    ("ERR_RESPONSE_HEADERS_", Failure.SERVER_ERROR),
    ("ERR_ABORTED", Failure.NOT_HTML),  # an answer without a page: 204, or a file to be saved
)


def navigation_failure(error: str) -> WireFailure:
    """Return the failure that `net::ERR_…` means; a lost connection when it is not known."""
    name = error.removeprefix("net::")
    failure = next((failure for start, failure in _MEANINGS if name.startswith(start)), Failure.CONNECTION_LOST)
    return WireFailure(failure=failure, detail=f"the browser says {error}")
