"""What is remembered of outside services: status, spending, answers, deliveries and browsers."""
