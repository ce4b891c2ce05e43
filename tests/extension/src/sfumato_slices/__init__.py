"""A method, a model and an estimator of one's own."""
