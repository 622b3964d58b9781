"""What the stand-ins for search, model and geocoder answer to everyone while a fault lasts."""

from tidemill.lab.standins.talk import StandinFault, StandinReply, json_reply

FAULTS = {
    StandinFault.DOWN: StandinReply(is_down=True),
    StandinFault.HANGS: StandinReply(hangs=True),
    StandinFault.BROKEN: StandinReply(
        503, b"<html><title>503 Service Unavailable</title></html>", {"content-type": "text/html"}
    ),
    StandinFault.GARBAGE: StandinReply(
        200, b"\x00\xff not what you asked for", {"content-type": "application/octet-stream"}
    ),
    StandinFault.RATE_LIMITED: json_reply({"message": "Too many requests"}, 429, {"retry-after": "60"}),
    StandinFault.OUT_OF_QUOTA: json_reply({"message": "Not enough credits"}, 402),
    StandinFault.BAD_KEY: json_reply({"message": "Unauthorized."}, 403),
}


def refusal(fault: StandinFault, given: str | None, key: str) -> StandinReply | None:
    """What is answered instead of an answer: the fault's words, or those for a wrong key."""
    if fault is not StandinFault.NONE:
        return FAULTS[fault]
    return FAULTS[StandinFault.BAD_KEY] if given != key else None
