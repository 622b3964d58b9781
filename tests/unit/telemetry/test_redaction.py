import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill.core.checks.secrets import redact_text
from tidemill.telemetry.redaction import redact_value

pytestmark = pytest.mark.shows("H8")


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://mill:hunter2@db.example/tidemill",
        "http://hunter2@site.example/agenda",
        "https://site.example/api?token=hunter2&page=2",
        "https://site.example/?api_key=hunter2",
        "https://site.example/?X-Amz-Signature=hunter2",
        "Authorization: Bearer hunter2",
        "authorization: basic hunter2==",
        '{"password": "hunter2", "user": "mill"}',
        "set-cookie: hunter2; Path=/",
        "secret_key='hunter2'",
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str) -> None:
    assert "hunter2" not in redact_text(text)
    assert "***" in redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "https://site.example/@town/agenda?page=2",
        "no answer in 30 s",
        "neither events nor the empty-agenda notice",
        "mail us at info@town.example",
    ],
)
def test_what_is_no_secret_stays_readable(text: str) -> None:
    assert redact_text(text) == text


def test_secrets_deep_inside_values_are_hidden_by_their_name() -> None:
    value = {"headers": [{"Authorization": "hunter2"}, {"X-Api-Key": "hunter2"}], "count": 3, "raw": b"token=hunter2"}
    cleaned = redact_value(value)
    assert "hunter2" not in str(cleaned)
    assert cleaned["count"] == 3


@given(secret=st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=8), rest=st.text(max_size=50))
def test_a_password_in_an_address_never_survives(secret: str, rest: str) -> None:
    secret = f"Zq{secret}"
    assert secret not in redact_text(f"postgresql://mill:{secret}@db/x {rest.replace(secret, '')}")


def test_a_long_text_is_cleaned_in_linear_time() -> None:
    assert redact_text("token" * 200_000).startswith("token")
    assert redact_text("://" * 200_000 + "@").endswith("@")
