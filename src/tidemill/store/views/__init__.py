"""How things stand, read for people; nothing here writes."""
