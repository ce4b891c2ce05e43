"""What the groups of a release teach about their inside: the models behind the likelihood estimator."""
