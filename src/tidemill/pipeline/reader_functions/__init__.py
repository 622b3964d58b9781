"""What readers do beside a job's pages: functions over scraped text that are asked for by name, each with its types."""
