"""Weeks of the real system in virtual time, against a world of faults, judged by laws that must hold."""
