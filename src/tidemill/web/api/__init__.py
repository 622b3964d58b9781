"""The HTTP API: `/api/v1` for data, and the addresses that machines watch us by."""
