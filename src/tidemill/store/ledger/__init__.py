"""Jobs and everything that carries them: claims, leases, checkpoints, rate limits, dead letters, runs, ticks."""
