"""What every vertical's records share: the port of their repository, and their history."""
