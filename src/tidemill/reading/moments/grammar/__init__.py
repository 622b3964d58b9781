"""One grammar of dates for all languages: tables of words become tokens, and rules over tokens become a time."""
