"""The live lane: watches of things that change within seconds, polled in a loop that writes only what changed."""
