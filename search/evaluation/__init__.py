"""How well search finds: questions with known answers, asked of an index of their own, and the figures of it."""
