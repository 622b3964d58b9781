"""DECIDE: pure rules over frozen values; `now` and dice are arguments, never read."""
