"""The command that writes data to files."""
