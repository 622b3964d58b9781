"""What fetches pages for money or in a browser, built from the settings."""
