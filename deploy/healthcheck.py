"""Ask the process of this container whether it lives: the web app on `web_port`, another on `metrics_port`.

That the database is away, or nothing is scraped, is not the container's fault: a restart would not mend it. So this
asks whether the process answers at all, and `/health` tells people how the system is.
"""

import os
import sys
from http.client import HTTPConnection, HTTPException

PORTS = (("TIDEMILL_METRICS_PORT", "/alive"), ("TIDEMILL_WEB_PORT", "/health"))


def answers(port: int, path: str) -> bool:
    """Return whether somebody answers there; that the system is down is an answer."""
    connection = HTTPConnection("127.0.0.1", port, timeout=4)
    try:
        connection.request("GET", path)
        return connection.getresponse().status in {200, 503}
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


named = [(int(port), path) for name, path in PORTS if (port := os.environ.get(name))]
sys.exit(0 if any(answers(port, path) for port, path in named or [(8420, "/health")]) else 1)
