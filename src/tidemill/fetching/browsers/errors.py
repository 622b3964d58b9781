"""What can go wrong with a browser itself, whatever the page."""


class NoBrowser(Exception):
    """There is no browser to be had; the message says what to install."""


class BrowserLost(Exception):
    """The browser or its driver is gone, and what was under way with it."""
