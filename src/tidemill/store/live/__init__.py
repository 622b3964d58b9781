"""The ledger of the live lane: watches and their leases, what changes write, and what lists bring."""
