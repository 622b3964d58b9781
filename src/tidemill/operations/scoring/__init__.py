"""How well the reading library does on saved pages and phrases with known answers."""
