"""F'-privacy and buckets of many sizes: 000 (a thesis) and 001."""
