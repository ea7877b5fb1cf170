"""MaxSim of token states."""

import numpy as np

from search.vectors.late_interaction import max_similarities


def states(*rows: list[float]) -> np.ndarray:
    return np.round(np.array(rows) * 127).astype(np.int8).reshape(len(rows), -1)


def test_each_word_of_the_query_counts_by_its_best_partner() -> None:
    query = states([1.0, 0.0], [0.0, 1.0])
    both, one, none = states([0.0, 1.0], [1.0, 0.0]), states([1.0, 0.0]), states([-1.0, 0.0])
    assert max_similarities(query, [both, one, none]).tolist() == [1.0, 0.5, -0.5]


def test_a_document_without_tokens_is_unknown() -> None:
    empty = np.zeros((0, 2), np.int8)
    found = max_similarities(states([1.0, 0.0]), [empty, states([1.0, 0.0]), empty])
    assert np.isnan(found).tolist() == [True, False, True]
    assert found[1] == 1.0


def test_without_documents_or_query_there_is_nothing_to_compare() -> None:
    assert max_similarities(states([1.0, 0.0]), []).tolist() == []
    assert np.isnan(max_similarities(np.zeros((0, 2), np.int8), [states([1.0, 0.0])])).all()
