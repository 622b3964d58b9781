"""What feeds list, made targets of their sources."""
