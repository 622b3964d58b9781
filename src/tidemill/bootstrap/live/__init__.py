"""What is watched live, built from the settings: the lane, its health, its streams, and what machines share of it."""
