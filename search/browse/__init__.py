"""Pages to look around in: sessions, projects, files, concepts."""
