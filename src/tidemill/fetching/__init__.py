"""FETCH: the only code that touches the outside web, politely, bounded and behind the address guard."""
