"""The only code with SQL: one module per concern, one schema on SQLite and PostgreSQL."""
