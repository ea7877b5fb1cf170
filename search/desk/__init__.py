"""The desk: what deserves a person's look, found by detectors, decided one by one."""
