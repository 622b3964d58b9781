"""Who sends a request and whether they may: sessions, tokens, roles by route, forms, quotas."""
