"""What decoders refuse, and what they say."""

import numpy as np
import oracles
import pytest
from sklearn.exceptions import NotFittedError

from outputcodes.decoders import Decoder, LossBased, as_decoder


@pytest.mark.parametrize("name", ["vote", "dag"])
@pytest.mark.parametrize(
    "M",
    [
        oracles.one_vs_all(4),
        oracles.all_pairs(4)[:, :-1],
        np.hstack([oracles.all_pairs(4)[:, :-1], oracles.all_pairs(4)[:, :1]]),
        np.abs(oracles.all_pairs(4)),
    ],
    ids=["one-vs-all", "a pair missing", "a pair twice", "one sign"],
)
def test_pairwise_decoders_want_every_pair_once(name, M):
    with pytest.raises(ValueError, match="all-pairs"):
        as_decoder(name).scores(np.zeros((1, M.shape[1])), M)


def test_inverse_hamming_refuses_a_singular_distance_matrix():
    M = np.array([[1, 0], [0, 1], [1, 1], [-1, -1]])
    delta = np.array([[oracles.row_distance(u, v) for u in M] for v in M])
    assert np.linalg.matrix_rank(delta) < 4
    with pytest.raises(ValueError, match="singular"):
        as_decoder("inverse-hamming").scores([[1.0, 1.0]], M)


def test_names_options_shapes_and_numbers():
    M = oracles.one_vs_all(3)
    with pytest.raises(ValueError, match="did you mean 'hamming'"):
        as_decoder("haming")
    with pytest.raises(ValueError, match="must be a name"):
        as_decoder(7)
    with pytest.raises(ValueError, match="zeros='drop'"):
        LossBased("hinge", zeros="drop").scores([[1, 2, 3]], M)
    with pytest.raises(ValueError, match="name one of hinge"):
        LossBased().scores([[1, 2, 3]], M)
    with pytest.raises(ValueError, match=r"\(1, 2\) and M of shape \(3, 3\)"):
        as_decoder("hinge").scores([[1, 2]], M)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="F contains"):
            as_decoder("hinge").scores([[1, bad, 3]], M)
    with pytest.raises(ValueError, match="beyond 1e\\+100"):
        as_decoder("squared").scores([[1e200, 0, 0]], M)
    with pytest.raises(ValueError, match="not finite on these margins"), np.errstate(over="ignore"):
        LossBased(lambda z: np.exp(-z)).scores([[1000, -5, 3]], M)
    with pytest.raises(NotFittedError):
        as_decoder("accuracy-weighted").scores([[1, 2, 3]], M)
    with pytest.raises(ValueError, match="don't match"):
        as_decoder("accuracy-weighted").fit([[1, 2, 3]], [0, 1], M)


def test_scores_of_a_new_decoder_have_a_column_per_class():
    class Narrow(Decoder):
        def _scorer(self, M):
            return lambda F: F[:, :2]

    for method in (Narrow().scores, Narrow().predict, Narrow().ties):
        with pytest.raises(ValueError, match=r"Narrow returned scores of shape \(4, 2\) for 4 rows and 3 classes"):
            method(np.ones((4, 3)), 2 * np.eye(3) - 1)
