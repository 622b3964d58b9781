"""Many machines on this one: PostgreSQL, Redis, web apps, workers and beats as processes on loopback."""
