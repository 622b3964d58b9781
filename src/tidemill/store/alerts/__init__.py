"""What people are told, kept: incidents, the signals that open them, rounds of runs, and messages on their way out."""
