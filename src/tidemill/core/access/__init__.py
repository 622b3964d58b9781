"""Who may do what over HTTP: roles, callers, sessions, tokens and lockouts. Pure."""
