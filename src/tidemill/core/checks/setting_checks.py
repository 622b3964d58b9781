"""Whether the texts of settings can be used: addresses, hosts, domains; each answer says what to write instead."""

from tidemill.core.urls import BadUrl, address_of, host_of, normalize, registrable_domain

LARGEST_PORT = 65_535
SCHEMES = {
    "database": ("sqlite", "postgresql"),
    "redis": ("redis", "rediss", "unix"),
    "read_database": ("postgresql",),
    "broker": ("redis", "rediss", "amqp", "amqps"),
}
"""How the addresses of stores begin, by setting."""


def scheme_problem(setting: str, value: str) -> str:
    """Return why a store's address cannot be used; the value itself is not repeated, it may hold a password."""
    scheme, found, _ = value.partition("://")
    if found and scheme.partition("+")[0] in SCHEMES[setting]:
        return ""
    return f"it must begin with {' or '.join(f'{each}://' for each in SCHEMES[setting])}"


def web_address_problem(value: str) -> str:
    """Return why a service's address cannot be used; '' if it can."""
    try:
        normalize(value)
    except BadUrl:
        return f"{value!r} is no web address; write it as in https://api.example.com"
    return ""


def host_address_problem(host: str, address: str) -> str:
    """Return why a host cannot be answered with this address; '' if it can."""
    try:
        plain = host_of(f"http://{host}/")
    except BadUrl:
        plain = ""
    if plain != host:
        return f"{host!r} is no plain host name; write it as in api.example.com"
    return "" if _is_address(address) else f"{host}: {address!r} is no address; write one like 127.0.0.1"


def _is_address(text: str) -> bool:
    """Whether a text is an IP address, or one with its port: `127.0.0.1:8080`, `[::1]:80`."""
    name, _, port = text.rpartition(":")
    plain = name.strip("[]") if name and port.isascii() and port.isdigit() and int(port) <= LARGEST_PORT else text
    try:
        return any(address_of(each) is not None for each in {text, plain} if each)
    except ValueError:
        return False


def domain_problem(value: str) -> str:
    """Return why a text is no registrable domain; '' if it is one."""
    try:
        domain = registrable_domain(value)
    except BadUrl:
        return f"{value!r} is no domain; write it as in example.org"
    if "." not in domain:
        return f"{value!r} is no domain; write it as in example.org"
    return "" if domain == value else f"{value!r} is not registrable; did you mean {domain!r}?"
