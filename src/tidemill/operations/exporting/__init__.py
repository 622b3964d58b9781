"""Exports: what each vertical publishes, as files in common formats, in constant memory."""
