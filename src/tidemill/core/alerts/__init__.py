"""What a person is told, decided: the table of alerts, incidents and their messages, routes and quiet hours. Pure."""
