"""The `browser` fetcher: pages that need JavaScript, from a guarded, recycled pool of Chromium."""
