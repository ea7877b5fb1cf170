"""Hits over time: what a bar is, and how many hits it holds."""
