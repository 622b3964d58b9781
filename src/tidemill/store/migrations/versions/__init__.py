"""One module per step; never edited once released."""
