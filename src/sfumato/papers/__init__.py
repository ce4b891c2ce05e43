"""As published, where a paper claims less than a bound on a reader's belief, or leaves something unproved."""
