"""Whether the texts of settings can be used: addresses, hosts, domains; each answer says what to write instead."""

from tidemill.core.urls import BadUrl, address_of, host_of, normalize, registrable_domain

SCHEMES = {
    "database": ("sqlite:///", "postgresql://"),
    "redis": ("redis://", "rediss://", "unix://"),
}
"""How the addresses of stores begin, by setting."""


def scheme_problem(setting: str, value: str) -> str:
    """Return why a store's address cannot be used; the value itself is not repeated, it may hold a password."""
    schemes = SCHEMES[setting]
    return "" if value.startswith(schemes) else f"it must begin with {' or '.join(schemes)}"


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
        found = address_of(host_of(f"http://{f'[{address}]' if ':' in address else address}/"))
        plain = host_of(f"http://{host}/")
    except BadUrl:
        found, plain = None, ""
    if plain != host:
        return f"{host!r} is no plain host name; write it as in api.example.com"
    return "" if found is not None else f"{host}: {address!r} is no address; write one like 127.0.0.1"


def domain_problem(value: str) -> str:
    """Return why a text is no registrable domain; '' if it is one."""
    try:
        domain = registrable_domain(value)
    except BadUrl:
        return f"{value!r} is no domain; write it as in example.org"
    if "." not in domain:
        return f"{value!r} is no domain; write it as in example.org"
    return "" if domain == value else f"{value!r} is not registrable; did you mean {domain!r}?"
