"""KNOW: the kinds of data, each one folder that hands itself to the system as one value."""
