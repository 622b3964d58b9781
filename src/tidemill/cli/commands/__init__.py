"""One module per command, named like it; each has an `app`."""
