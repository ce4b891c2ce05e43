"""What a conformance suite raises."""


class ConformanceError(AssertionError):
    """A method or a model breaks a promise that every one makes."""
