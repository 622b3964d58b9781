"""The lab's agenda sites: what is on, how each make of site writes it, and what goes wrong."""
