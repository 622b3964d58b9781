"""What is remembered of outside services: status, spending, answers, open questions and browsers."""
