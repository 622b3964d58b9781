"""What is kept about the work itself, and for how long: audit and retention."""
