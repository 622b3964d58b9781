"""The `browser` fetcher: pages that need JavaScript, from a guarded, recycled pool of Chromium (F2, F8, F9)."""
