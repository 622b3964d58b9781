"""The pages of homes and markets."""
