"""What the stand-ins for search, model and geocoder answer to everyone while a fault lasts."""

from tidemill.lab.standins.talk import Fault, Reply, json_reply

FAULTS = {
    Fault.DOWN: Reply(is_down=True),
    Fault.HANGS: Reply(hangs=True),
    Fault.BROKEN: Reply(503, b"<html><title>503 Service Unavailable</title></html>", {"content-type": "text/html"}),
    Fault.GARBAGE: Reply(200, b"\x00\xff not what you asked for", {"content-type": "application/octet-stream"}),
    Fault.RATE_LIMITED: json_reply({"message": "Too many requests"}, 429, {"retry-after": "60"}),
    Fault.OUT_OF_QUOTA: json_reply({"message": "Not enough credits"}, 402),
    Fault.BAD_KEY: json_reply({"message": "Unauthorized."}, 403),
}


def refusal(fault: Fault, given: str | None, key: str) -> Reply | None:
    """What is answered instead of an answer: the fault's words, or those for a wrong key."""
    if fault is not Fault.NONE:
        return FAULTS[fault]
    return FAULTS[Fault.BAD_KEY] if given != key else None
