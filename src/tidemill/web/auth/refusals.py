"""Refusals by the gate, with what would help."""


class NotAllowed(Exception):
    """The caller may not do this; `status` is 401 when signing in or a token would help, 429 when it is too often."""

    def __init__(self, status: int, message: str, hint: str, retry_after: int | None = None) -> None:
        """`hint` says what would help; `retry_after` is in seconds."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.hint = hint
        self.retry_after = retry_after
