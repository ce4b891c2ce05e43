"""Settings: how many buckets of which size, decided on counts alone."""
