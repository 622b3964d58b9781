"""The only generic code with a web framework: the HTTP API, the pages for people, and what watches over the system."""
