"""A method and a model of one's own."""
