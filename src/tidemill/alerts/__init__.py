"""TELL: checks become incidents, incidents and rounds become messages, and messages go out by channels."""
