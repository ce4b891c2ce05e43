"""Randomization: plans made on counts, and their application to records."""
