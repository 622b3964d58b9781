"""Messages by real sockets: Slack, mail and the signed webhook, and never to a refused address."""

import asyncio
from typing import Any

import msgspec
import pytest
from pydantic import SecretStr

from rig.clock import NOON
from tidemill.alerts.channels.mail import MailChannel
from tidemill.bootstrap.watching.alerts import build_channels
from tidemill.bootstrap.webhooks import build_webhooks
from tidemill.core.alerts.messages import AlertNotice
from tidemill.lab.standins.slack import PATH, SlackStandin
from tidemill.lab.standins.smtp import SmtpStandin
from tidemill.lab.standins.talk import Call, StandinReply, StandinServer
from tidemill.pipeline.webhooks import signature
from tidemill.settings import Settings

pytestmark = pytest.mark.shows("H7")

NOTICE = AlertNotice(
    key="opened 1", kind="opened", title="P1 disk full: ourselves", paragraphs=("Free space.",), at=NOON
)
LOOPBACK = ["127.0.0.0/8"]


class Receiver:
    """Takes whatever is posted."""

    def __init__(self) -> None:
        """Nothing has come yet."""
        self.calls: list[Call] = []

    async def answer(self, call: Call, now: Any) -> StandinReply:
        del now
        self.calls.append(call)
        return StandinReply(204)


def channel(name: str, **settings: Any) -> Any:
    chosen = Settings(_env_prefix="TIDEMILL_UNUSED_", **{"allow_networks": LOOPBACK, **settings})
    return build_channels(chosen, build_webhooks(chosen), None)[name]


async def test_slack_takes_a_notice_over_a_real_socket() -> None:
    slack = SlackStandin()
    async with StandinServer(slack) as server:
        sender = channel("slack", slack_webhook=server.origin + PATH)
        assert (await sender.send(NOTICE, "", NOON)).error == ""
        await sender.close()
    assert slack.titles == [NOTICE.title]


async def test_slack_may_have_a_message_when_it_hangs_up_and_has_none_when_nobody_is_there() -> None:
    async def hangs_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(hangs_up, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    sender = channel("slack", slack_webhook=f"http://127.0.0.1:{port}{PATH}")
    assert (await sender.send(NOTICE, "", NOON)).may_have_come
    server.close()
    await server.wait_closed()
    answer = await sender.send(NOTICE, "", NOON)
    assert (bool(answer.error), answer.may_have_come) == (True, False)
    await sender.close()


async def test_an_address_that_the_guard_refuses_is_not_called() -> None:
    slack = SlackStandin()
    async with StandinServer(slack) as server:
        sender = channel("slack", slack_webhook=server.origin + PATH, allow_networks=[])
        answer = await sender.send(NOTICE, "", NOON)
        await sender.close()
    assert answer.error
    assert PATH not in answer.error
    assert slack.asked == []


async def test_a_mail_is_taken_refused_or_not_sent_at_all() -> None:
    async with SmtpStandin() as server:
        given = {"mail_from": "mill@a.example", "mail_to": ["ann@a.example"]}
        sender = channel("mail", mail_server=f"smtp://127.0.0.1:{server.port}", **given)
        assert isinstance(sender, MailChannel)
        assert (await sender.send(NOTICE, "", NOON)).error == ""
        server.refuses = True
        assert (await sender.send(NOTICE, "", NOON)).error == "mail: the server answered 451"
        guarded = channel("mail", mail_server=f"smtp://127.0.0.1:{server.port}", allow_networks=[], **given)
        assert (await guarded.send(NOTICE, "", NOON)).error == "mail: RefusedServerError"
    (mail,) = server.mails
    assert "Subject: [tidemill] P1 disk full: ourselves" in mail
    assert "Free space." in mail


async def test_a_webhook_is_signed_and_carries_its_key() -> None:
    receiver = Receiver()
    async with StandinServer(receiver) as server:
        chosen = Settings(
            _env_prefix="TIDEMILL_UNUSED_",
            allow_networks=LOOPBACK,
            alert_webhook_url=SecretStr(f"{server.origin}/hook"),
            alert_webhook_secret=SecretStr("s3cret"),
        )
        webhooks = build_webhooks(chosen)
        sender = build_channels(chosen, webhooks, None)["webhook"]
        assert (await sender.send(NOTICE, "", NOON)).error == ""
        await webhooks.post.close()
    (call,) = receiver.calls
    moment = int(call.headers["x-tidemill-timestamp"])
    assert signature("s3cret", moment, call.content) in call.headers["x-tidemill-signature"]
    assert call.headers["idempotency-key"] == NOTICE.key
    assert msgspec.json.decode(call.content)["title"] == NOTICE.title
