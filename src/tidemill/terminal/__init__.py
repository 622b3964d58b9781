"""What commands are built from, ours and those that verticals bring: options, tables, the session."""
