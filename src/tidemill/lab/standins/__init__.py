"""Stand-ins for outside services: each speaks its service's public HTTP API, and can be told to misbehave."""
