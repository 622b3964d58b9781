"""The tables of events and all SQL over them."""
