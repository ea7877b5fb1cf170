"""Closets: index lines made of drawers, which point at drawers. They lift what they point at and are never found.

`building` makes lines of the drawers of a group, `groups` notes which groups changed, `upkeep` follows these changes,
and `ranking` says what the lines nearest to a question lift.
"""
