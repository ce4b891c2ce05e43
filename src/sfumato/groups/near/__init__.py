"""Groups of people who are near each other: annealed ones for a reader, pure matched ones for an engineer."""
