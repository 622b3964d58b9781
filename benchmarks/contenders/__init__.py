"""The contenders: each a program of its own, given its task as JSON, answering with one line of JSON."""
