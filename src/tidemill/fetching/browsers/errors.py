"""What can go wrong with a browser itself, whatever the page."""


class NoBrowser(Exception):
    """No browser can be started; the message says what to install."""


class BrowserLost(Exception):
    """The browser or its driver has died, and so has what was running in it."""
