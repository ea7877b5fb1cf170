"""Measurements of speed. Nothing here is a test: figures depend on the machine, ratios less so."""
