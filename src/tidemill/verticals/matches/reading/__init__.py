"""Matches on a page: in a feed's JSON, in the state of a page's script, or on a scoreboard that scripts have drawn."""
