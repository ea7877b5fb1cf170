"""Finding by meaning: what embeds texts, the stored vectors, and the index over them."""
