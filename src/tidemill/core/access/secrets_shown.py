"""Secrets that are shown once and kept as a hash."""

import hashlib

TOKEN_MARK = "tm_"  # noqa: S105 - what tokens begin with, so that scanners recognise a leaked one
PREFIX_LENGTH = 10
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 200


def hashed(secret: str) -> str:
    """Return what is stored of a random secret of 32 bytes: its SHA-256 in hex, which cannot be guessed back."""
    return hashlib.sha256(secret.encode()).hexdigest()


def visible_prefix(token: str) -> str:
    """Return the first characters of a token, by which its owner recognises it."""
    return token[:PREFIX_LENGTH]


def password_problem(password: str, name: str) -> str:
    """Return what is wrong with a new password, '' if it will do."""
    if len(password) < SHORTEST_PASSWORD:
        return f"a password has {SHORTEST_PASSWORD} characters or more; a sentence is easy to remember"
    if len(password) > LONGEST_PASSWORD:
        return f"a password has {LONGEST_PASSWORD} characters at most"
    if len(set(password)) < PREFIX_LENGTH // 2:
        return "this password repeats a few characters; choose another"
    if name and name.lower() in password.lower():
        return "this password contains the name; choose another"
    return ""


def name_problem(name: str) -> str:
    """Return what is wrong with a person's or token's name, '' if it will do."""
    plain = name.strip()
    if not plain or plain != name:
        return "a name has at least one character and no space around it"
    if len(name) > 80 or not name.isprintable():  # noqa: PLR2004 - what fits in a table
        return "a name has 80 printable characters at most"
    return ""
