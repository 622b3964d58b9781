"""The lab's housing market: homes that come and go in 19 cities, two sites and an actor that show them, and faults."""
