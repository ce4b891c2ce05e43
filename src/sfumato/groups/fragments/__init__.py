"""Groups whose quasi values are shown apart, so that neither presence nor association is certain (Ambiguity, PriView)."""
