"""Files that are sent as the body of a request."""

from starlette.requests import Request

from tidemill.operations.plans import LARGEST_FILE
from tidemill.web.responses import BadParameter


async def whole_file(request: Request) -> bytes:
    """Return the body, unless it is larger than any file that is read."""
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST_FILE:
            msg = f"the file is larger than {LARGEST_FILE} bytes; split it"
            raise BadParameter(msg)
    return content
