"""Charts as SVG made by the server: no script, no library; each says in words what it shows."""
