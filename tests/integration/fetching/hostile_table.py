"""Addresses that no fetcher may follow to a socket, whoever names them: the same table for every fetcher.

`PORT` stands for the port of a server that listens on 127.0.0.1 and counts who comes, `ALLOWED` for a port that is
not its own.
"""

HOSTILE = [
    "http://127.0.0.1:PORT/", "http://127.1:PORT/", "http://127.0.1:PORT/", "http://0x7f.1:PORT/", "http://0x7f000001:PORT/",
    "http://0X7F.0.0.1:PORT/", "http://2130706433:PORT/", "http://017700000001:PORT/", "http://0177.0.0.1:PORT/",
    "http://127.0.0.1.:PORT/", "http://%31%32%37.0.0.1:PORT/", "http://\uff11\uff12\uff17.0.0.1:PORT/", "http://127。0。0。1:PORT/",
    "http://①②⑦.0.0.1:PORT/", "http://127.0.0.1%2f@example.org:PORT/", "http://0:PORT/", "http://0.0.0.0:PORT/",
    "http://00000000:PORT/", "http://[::1]:PORT/", "http://[::]:PORT/", "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/", "http://[::ffff:7f00:1]:PORT/", "http://[::127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/", "http://[2002:7f00:1::]:PORT/", "http://[fe80::1]:PORT/",
    "http://[fe80::1%25lo]:PORT/", "http://[fc00::1]:PORT/", "http://[fd00:ec2::254]/latest/meta-data/",
    "http://10.0.0.1:PORT/", "http://172.16.0.1:PORT/", "http://192.168.1.1:PORT/", "http://100.64.0.1:PORT/",
    "http://169.254.169.254/latest/meta-data/", "http://0xa9fea9fe/latest/meta-data/", "http://2852039166/",
    "http://[::ffff:a9fe:a9fe]/", "http://100.100.100.200/latest/meta-data/", "http://168.63.129.16/", "http://192.0.0.192/",
    "http://224.0.0.1:PORT/", "http://255.255.255.255:PORT/", "http://240.0.0.1:PORT/", "http://198.18.0.1:PORT/",
    "http://localhost:PORT/", "http://LOCALHOST.:PORT/", "http://any.localhost:PORT/", "http://localtest.me.example:PORT/",
    "http://metadata.google.internal/computeMetadata/v1/", "http://mapped6.example:PORT/", "http://many.example:PORT/",
    "http://user:secret@127.0.0.1:PORT/", "http://user@allowed.example:ALLOWED/", "http://example.org@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT\\@example.org/", "http:127.0.0.1:PORT", "http:\\\\127.0.0.1:PORT\\", "//127.0.0.1:PORT/",
    "file:///etc/passwd", "file://127.0.0.1/etc/passwd", "ftp://127.0.0.1:PORT/", "gopher://127.0.0.1:PORT/_x",
    "javascript:fetch('http://127.0.0.1:PORT')", "data:text/html,hoi", "unix:///var/run/docker.sock", "ws://127.0.0.1:PORT/",
    "http+unix://%2fvar%2frun/", "http://127.0.0.1:22/", "http://allowed.example:6379/", "http://./", "http:///",
]  # fmt: skip

LOOPBACK_IN_DISGUISE = ["127.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "10.0.0.1"]
"""What an enemy's name server answers to every question."""


def hostile_url(url: str, port: int, allowed: int = 80) -> str:
    """A row of the table, aimed at a real server."""
    return url.replace("PORT", str(port)).replace("ALLOWED", str(allowed))
