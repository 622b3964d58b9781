"""Dead letters as failing tests: a bundle of page, settings and adapter that fails the same way offline."""
