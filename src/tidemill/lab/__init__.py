"""The demo world: agenda sites with faults on a timetable, real on loopback or in memory under virtual time."""
