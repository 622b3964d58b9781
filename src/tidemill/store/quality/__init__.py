"""How well adapters fit their sites: drift, incidents, quarantine and proposed selectors."""
