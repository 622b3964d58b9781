"""The demo world's machinery: sites that verticals bring, faults on a timetable, real sockets or virtual time."""
