"""KNOW: the kinds of data, each in a folder of the same shape: record, rules, policy, sources, README."""
