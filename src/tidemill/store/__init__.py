"""SQL that every vertical shares: one folder per concern, one schema on SQLite and PostgreSQL."""
