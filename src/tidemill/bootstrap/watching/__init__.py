"""What watches and tells, built from the settings: checks, channels, the outbox and the dead-man ping."""
