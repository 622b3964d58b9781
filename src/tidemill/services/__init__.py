"""Outside APIs behind ports: each may be slow, limited, down or talk garbage, and none of that is an exception here."""
