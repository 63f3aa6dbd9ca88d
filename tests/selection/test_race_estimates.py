"""The error that a race reports is that of its winner on new rows: not that of the luckiest, nor that of fewer rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.neighbors import KNeighborsClassifier

from outputcodes.app.run.race.results import notes_on, rows_of, why_this_model
from outputcodes.selection import Race
from outputcodes.selection.race import last_trainings
from outputcodes.selection.race import race as module
from outputcodes.selection.race.averages import Average
from outputcodes.selection.race.estimate import loss_of_best, of_one
from outputcodes.selection.race.last_trainings import too_late

QUICK = ["ridge", "decision-tree", "neighbours"]


def test_the_estimate_of_the_best_of_many_coins_is_that_of_a_coin():
    """Fifty coins: the luckiest seems good; the estimate must not be deceived. Of a true difference it must know."""
    rng = np.random.default_rng(0)
    naive, corrected = [], []
    for _ in range(20):
        losses = rng.random((200, 50)) < 0.5
        naive.append(losses.mean(axis=0).min())
        corrected.append(loss_of_best(losses).loss)
    assert np.mean(naive) < 0.44
    assert np.mean(corrected) == pytest.approx(0.5, abs=0.02)
    losses[:, 7] = rng.random(200) < 0.1
    assert loss_of_best(losses).loss == pytest.approx(losses[:, 7].mean(), abs=0.01)


def test_the_estimate_of_the_best_of_alike_entries_is_honest():
    """Entries that err on the same hard rows and differ a little: what is chosen has the error that is estimated."""
    rng = np.random.default_rng(0)
    naive, corrected = [], []
    for _ in range(200):
        true = rng.uniform(0.2, 0.26, 30)
        hard, own = rng.random((400, 1)), rng.random((400, 30))
        losses = np.where(rng.random((400, 30)) < 0.5, hard, own) < true
        best = losses.mean(axis=0).argmin()
        naive.append(losses[:, best].mean() - true[best])
        corrected.append(loss_of_best(losses).loss - true[best])
    assert np.mean(naive) < -0.02
    # A little too large, as each bootstrap sample chooses by fewer different rows.
    assert abs(np.mean(corrected)) < 0.3 * abs(np.mean(naive))


def test_no_error_on_few_rows_is_no_certainty():
    never = np.zeros((100, 3), dtype=bool)
    for found in (loss_of_best(never), of_one(never[:, 0])):
        assert (found.loss, found.low) == (0, 0)
        # Wilson's bound without errors, z²/(n + z²).
        assert found.high == pytest.approx(1.959964**2 / (100 + 1.959964**2), rel=1e-6)


def test_the_reported_error_of_a_race_is_honest_and_that_of_its_leader_is_not():
    """Races on small samples, whose winners are tuned, against many rows that they never saw."""

    def sample(n, rng):
        X = rng.normal(size=(n, 8))
        return X, (X[:, 0] + 0.6 * X[:, 1] * X[:, 2] + rng.normal(size=n) > 0).astype(int)

    reported, leading = [], []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        (X, y), (X_new, y_new) = sample(150, rng), sample(4000, rng)
        race = Race(None, contestants=QUICK, random_state=seed, blend=False).fit(X, y)
        true = np.mean(race.predict(X_new) != y_new)
        reported.append(race.loss_ - true)
        leading.append(race.standings_[0]["loss"] - true)
    error = np.std(reported) / np.sqrt(len(reported))
    assert abs(np.mean(reported)) < 2 * error
    assert np.mean(leading) < -2 * np.std(leading) / np.sqrt(len(leading))


@pytest.mark.parametrize("trained", [0, 1])
def test_without_time_for_an_average_the_error_is_that_of_the_model_there_is(monkeypatch, trained):
    """The best of several is corrected for that, another that was trained was not chosen by its error."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = (X[:, 0] + rng.normal(size=150) > 0).astype(int)
    alone = Race(None, contestants=QUICK, random_state=0, blend=False).fit(X, y)
    fitted = module.trained_on_all_rows

    def one_of_them(course, members, finalists, end):
        assert len(members) == len(finalists)
        return fitted(course, [(finalists[trained], 1.0)], finalists, end)

    monkeypatch.setattr(module, "trained_on_all_rows", one_of_them)
    monkeypatch.setattr(
        module, "winning_average", lambda P, *_: Average(np.full(len(P), 1 / len(P)), np.mean(P, axis=0))
    )
    # The learning curve apart, which lowers both.
    monkeypatch.setattr(module, "with_fewer_rows", lambda *_: None)
    race = Race(None, contestants=QUICK, random_state=0).fit(X, y)
    assert race.winner_ == [race.standings_[trained]["name"]]
    expected = loss_of_best(alone.finalist_losses_).loss if trained == 0 else race.finalist_losses_[:, trained].mean()
    assert race.loss_ == pytest.approx(expected)
    (note,) = (one for one in notes_on(race, rows_of(race), None, len(y)) if one.startswith("Expected"))
    assert ("corrected for being the best" in note) == (trained == 0)


def test_when_the_time_is_over_the_best_that_takes_a_moment_is_trained_on_all_rows(monkeypatch):
    """Also if no process is left that could train it; what takes longer is trained as it was measured."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = (X[:, 0] + rng.normal(size=150) > 0).astype(int)

    def late(course, members, finalists, end):
        return too_late(course, finalists)

    monkeypatch.setattr(module, "trained_on_all_rows", late)
    race = Race(None, contestants=QUICK, random_state=0, blend=False).fit(X, y)
    assert (race.n_rows_, race.chosen_, race.winner_) == (150, "best", [race.standings_[0]["name"]])
    assert why_this_model(race, 150) == []
    monkeypatch.setattr(last_trainings, "SPARE", 0.0)
    race = Race(None, contestants=QUICK, random_state=0, blend=False).fit(X, y)
    assert race.n_rows_ == 120
    assert race.winner_ == [min(race.standings_, key=lambda row: row["seconds"])["name"]]
    assert "it knows 120 of 150" in why_this_model(race, 150)[-1]


@pytest.mark.parametrize("place", [0, 1])
def test_an_average_may_have_all_of_its_weight_on_one(monkeypatch, place):
    """It was judged on rows that did not choose it: nothing is corrected, and nothing was short of time."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = (X[:, 0] + rng.normal(size=150) > 0).astype(int)
    monkeypatch.setattr(module, "winning_average", lambda P, *_: Average(np.eye(len(P))[place], P[place]))
    monkeypatch.setattr(module, "with_fewer_rows", lambda *_: None)
    race = Race(None, contestants=QUICK, random_state=0).fit(X, y)
    assert race.winner_ == [race.standings_[place]["name"]]
    assert race.loss_ == pytest.approx(race.finalist_losses_[:, place].mean())
    notes = " ".join(notes_on(race, rows_of(race), None, len(y)))
    assert race.winner_[0] in notes
    assert "corrected" not in notes
    assert "in time" not in notes


def test_an_interval_is_never_narrower_than_that_of_a_share_of_the_rows():
    """Also after the learning curve has lowered the error."""
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = np.floor(4 * X).sum(axis=1).astype(int) % 3
    race = Race(None, contestants={"nearest": KNeighborsClassifier(1)}, random_state=0).fit(X, y)
    assert race.loss_ < race.standings_[0]["loss"]
    share = binomtest(round(race.loss_ * len(race.losses_)), len(race.losses_)).proportion_ci(method="wilson")
    assert race.interval_[0] <= share.low
    assert race.interval_[1] >= share.high


def test_the_reported_error_is_that_of_a_model_of_all_rows():
    """Nearest neighbours on a chessboard: their error falls with every row, and folds have a fifth of them less."""

    def sample(n, rng):
        X = rng.random((n, 2))
        return X, np.floor(4 * X).sum(axis=1).astype(int) % 3

    reported, of_folds = [], []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        (X, y), (X_new, y_new) = sample(300, rng), sample(4000, rng)
        race = Race(None, contestants={"nearest": KNeighborsClassifier(1)}, random_state=seed).fit(X, y)
        true = np.mean(race.predict(X_new) != y_new)
        reported.append(race.loss_ - true)
        of_folds.append(race.standings_[0]["loss"] - true)
    assert abs(np.mean(reported)) < 2 * np.std(reported) / np.sqrt(len(reported))
    assert np.mean(of_folds) > 2 * np.std(of_folds) / np.sqrt(len(of_folds))
