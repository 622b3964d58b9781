"""Sources, targets, adapters, hosts and the candidates that discovery found."""
