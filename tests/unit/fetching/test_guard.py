import socket

import pytest

from tidemill.core.urls import normalize
from tidemill.fetching.guard import AddressGuard, Allowance, RefusedAddress

pytestmark = pytest.mark.shows("F8")

NOT_PUBLIC_TEXT = """
    127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 100.100.100.200
    169.254.169.254 169.254.0.1 192.0.0.192 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255
    240.0.0.1 255.255.255.255 192.88.99.1 168.63.129.16
    :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1
    fe80::1 febf::1 fec0::1 fc00::1 fd00:ec2::254 ff02::1 ff0e::1 100::1 2001:db8::1 3fff::1 5f00::1 4000::1
    2001::1 2001:0:7f00:1:: 2002:7f00:1:: 2002:a00:1:: 2002:a9fe:a9fe:: 64:ff9b::7f00:1 64:ff9b::a00:1
    64:ff9b::a9fe:a9fe 64:ff9b:1::1
"""

PUBLIC_TEXT = """
    1.1.1.1 8.8.8.8 93.184.215.14 172.32.0.1 192.169.0.1 100.128.0.1 ::ffff:8.8.8.8 2606:4700::1111 2a00:1450:400e::200e
    2002:808:808:: 64:ff9b::808:808
"""


@pytest.mark.parametrize("address", NOT_PUBLIC_TEXT.split())
def test_addresses_beside_the_public_web_are_refused_as_written_and_as_connected_to(address: str) -> None:
    guard = AddressGuard()
    assert "public web" in guard.reason_to_refuse(normalize(f"http://{f'[{address}]' if ':' in address else address}/"))
    assert not guard.allows("rebound.example", address, 80)


@pytest.mark.parametrize("address", PUBLIC_TEXT.split())
def test_public_addresses_pass(address: str) -> None:
    guard = AddressGuard()
    assert not guard.reason_to_refuse(normalize(f"https://{f'[{address}]' if ':' in address else address}/"))
    assert guard.allows("example.org", address, 443)


@pytest.mark.parametrize(
    ("href", "reason"),
    [
        ("file:///etc/passwd", "only http and https"),
        ("ftp://example.org/", "only http and https"),
        ("javascript:alert(1)", "only http and https"),
        ("data:text/html,x", "only http and https"),
        ("https://user:secret@example.org/", "credentials"),
        ("https://user@example.org/", "credentials"),
        ("http://example.org:22/", "port 22"),
        ("http://example.org:6379/", "port 6379"),
        ("http://./", "no host"),
    ],
)
def test_an_address_that_is_not_a_plain_web_page_is_refused_with_its_reason(href: str, reason: str) -> None:
    assert reason in AddressGuard().reason_to_refuse(href)


def test_a_socket_to_a_refused_address_is_never_opened() -> None:
    with pytest.raises(RefusedAddress):
        AddressGuard().open_socket("rebound.example", (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80)))
    with pytest.raises(RefusedAddress):
        AddressGuard().open_socket("x", (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("fe80::1%lo", 80, 0, 1)))


def test_an_allowed_network_opens_its_addresses_and_no_others() -> None:
    guard = AddressGuard(["127.0.0.0/8"])
    assert not guard.reason_to_refuse("http://127.0.0.12:8080/agenda")
    assert guard.allows("uitagenda.lab.test", "127.0.0.12", 8080)
    assert guard.allows("uitagenda.lab.test", "::ffff:127.0.0.12", 8080)
    assert guard.reason_to_refuse("http://10.0.0.1/")
    assert not guard.allows("uitagenda.lab.test", "10.0.0.1", 80)
    with guard.open_socket("x", (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))) as opened:
        assert opened.family == socket.AF_INET


def test_an_allowance_may_name_one_port() -> None:
    guard = AddressGuard(["127.0.0.1:8080", "[::1]:9000"])
    assert not guard.reason_to_refuse("http://127.0.0.1:8080/")
    assert guard.reason_to_refuse("http://127.0.0.1/")
    assert not guard.reason_to_refuse("http://[::1]:9000/")
    assert guard.reason_to_refuse("http://[::1]:9001/")


def test_an_allowed_host_may_stand_on_a_private_address_and_others_may_not() -> None:
    guard = AddressGuard(["intranet.example"])
    assert guard.allows("intranet.example", "10.0.0.7", 80)
    assert not guard.allows("evil.example", "10.0.0.7", 80)
    assert guard.reason_to_refuse("http://10.0.0.7/")


def test_an_allowed_port_of_another_service_is_reachable_when_it_is_named() -> None:
    assert not AddressGuard(["127.0.0.1:6379"]).reason_to_refuse("http://127.0.0.1:6379/")


@pytest.mark.parametrize("text", ["", "10.0.0.0/99", "http://x/", "a b", "[::1", ":80"])
def test_an_allowance_that_allows_nothing_says_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match="write a network"):
        Allowance.parse(text)
