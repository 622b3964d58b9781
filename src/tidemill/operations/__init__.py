"""ACT: what a person can do, once; portal, API and command line call the same functions."""
