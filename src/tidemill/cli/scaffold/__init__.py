"""Templates for what `tidemill new` makes, a folder per vertical; `$name` and the like are filled in."""
