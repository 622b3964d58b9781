"""How well data is kept fresh, decided: scraper contexts, grades, what is done about them, failed tries."""
