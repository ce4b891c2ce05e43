"""Small-domain randomization: 002."""
