"""Outside services, decided: what stands in for each, what they may cost, what they may be asked."""
