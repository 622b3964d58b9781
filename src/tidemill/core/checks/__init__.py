"""What people write, checked: names, languages, settings, bounds; each refusal says what to write instead."""
