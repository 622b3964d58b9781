"""Outside APIs behind ports: each may be slow, limited, down or answer garbage, and all of that is a value here."""
