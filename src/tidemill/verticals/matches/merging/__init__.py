"""Several sites' words about one match made into one state: who is believed, what may change, what is a correction."""
