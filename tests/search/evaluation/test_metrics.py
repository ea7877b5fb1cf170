"""Recall, reciprocal rank and intervals."""

from search.evaluation.metrics import Figure, figure, percentile, score

TURNS = [f"t{number}" for number in range(1, 21)]
SESSIONS = [f"s{number}" for number in range(1, 21)]


def test_recall_counts_the_evidence_among_the_first() -> None:
    assert score(TURNS, SESSIONS, {"t2", "t6", "t11", "x"}, {"s5", "s10", "s11"}, 1) == {
        "turn R@5": 1 / 4,
        "turn R@10": 2 / 4,
        "MRR@10": 1 / 2,
        "session R@5": 1 / 3,
        "session R@10": 2 / 3,
    }


def test_evidence_behind_the_tenth_counts_as_not_found() -> None:
    assert score(TURNS, SESSIONS, {"t11"}, {"s11"}, 4) == {
        "turn R@5": 0.0,
        "turn R@10": 0.0,
        "MRR@10": 0.0,
        "session R@5": 0.0,
        "session R@10": 0.0,
    }


def test_first_and_tenth_place_count() -> None:
    assert score(TURNS, SESSIONS, {"t1"}, {"s1"}, 2)["MRR@10"] == 1.0
    assert score(TURNS, SESSIONS, {"t10"}, {"s10"}, 3)["MRR@10"] == 1 / 10


def test_adversarial_question_has_no_metric_of_turns() -> None:
    assert score(TURNS, SESSIONS, {"t1"}, {"s6"}, 5) == {
        "turn R@5": None,
        "turn R@10": None,
        "MRR@10": None,
        "session R@5": 0.0,
        "session R@10": 1.0,
    }


def test_nothing_found_scores_zero() -> None:
    assert set(score([], [], {"t1"}, {"s1"}, 1).values()) == {0.0}


def test_figure_is_the_mean_of_the_values_there_are() -> None:
    assert figure([1.0, None, 0.5, 0.0]) == Figure(0.5, 0.0, 1.0)
    assert figure([None]) is None
    assert figure([]) is None


def test_interval_of_equal_values_has_no_width() -> None:
    assert figure([0.25] * 40) == Figure(0.25, 0.25, 0.25)


def test_interval_is_the_same_every_time_and_near_that_of_the_normal_distribution() -> None:
    values = [1.0] * 300 + [0.0] * 100
    found = figure(values)
    assert found == figure(values)
    assert found is not None
    # 1.96 * sqrt(0.75 * 0.25 / 400) = 0.042
    assert (found.value, round(found.low, 2), round(found.high, 2)) == (0.75, 0.71, 0.79)


def test_percentile_of_nothing_is_zero() -> None:
    assert percentile([], 95) == 0.0
    assert percentile([1.0, 2.0, 3.0], 50) == 2.0
