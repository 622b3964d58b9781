"""The state of one record over time: canonical JSON, patches, sequence numbers, cursors and staleness."""
