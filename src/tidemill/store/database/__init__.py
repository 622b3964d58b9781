"""The database itself: engines, transactions, bulk statements, keys, column types and migrations."""
