"""The live delta protocol: snapshots and their changes over HTTP and server-sent events, for any vertical's things."""
