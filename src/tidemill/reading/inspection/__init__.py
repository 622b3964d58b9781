"""A stored page as a person looks at it: values marked, nothing that acts, selectors from a click, changes."""
