"""The one composition root: settings and the list of verticals in, running system out."""
