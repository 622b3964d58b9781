"""What commands are made of, for ours and for those that verticals bring: options, tables, the session."""
