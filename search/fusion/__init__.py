"""Keyword and vector candidates, scored together.

`question` reads what is asked, `passages` the texts of candidates and of what stands beside them, `windows` scores
words, `late_interaction` token states, and `combination` puts the scores together.
"""
