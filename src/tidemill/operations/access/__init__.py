"""What a person can do about people, sessions and tokens, and how a caller is recognised."""
