"""The lab's matches: played ball by ball on a seeded clock, shown by three sites of different make, with faults."""
