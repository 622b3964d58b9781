"""The ways to people: Slack, mail, a signed webhook, and whatever Apprise knows."""
