"""Templates for what `tidemill new` makes; `$name` and the like are filled in. A vertical has those of its adapters."""
