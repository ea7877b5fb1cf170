"""What can be done to memories from a list or from their page: tag, pin, copy as Markdown."""
