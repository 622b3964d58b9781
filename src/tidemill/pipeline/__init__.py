"""STAGES: a page's way through the system, one module per step. Stages gather, decide and answer."""
