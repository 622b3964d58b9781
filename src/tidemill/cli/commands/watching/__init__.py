"""The commands about what people are told: incidents, test messages, and how everything stands."""
