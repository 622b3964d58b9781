"""Who may sign in and act: people, sessions, tokens, links, wrong tries, and answers kept by Idempotency-Key."""
