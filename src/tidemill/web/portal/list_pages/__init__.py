"""The routes that every list of the portal has: the page, its rows as a file, the page of one row, and the forms."""
