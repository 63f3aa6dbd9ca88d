"""Plans: what suits a table is tried, newcomers included, and what is left out is reported."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from outputcodes._ground.planning import Planning
from outputcodes.app.run import SYSTEMS, System, make_plan
from outputcodes.app.run.race.winner import named_contestants
from outputcodes.codes import CODES, Code
from outputcodes.decoders import DECODERS, LossBased
from outputcodes.learners import LEARNERS, Ridge
from outputcodes.losses import LOSSES, Loss


@pytest.mark.parametrize(
    ("size", "gone", "stays"),
    [
        ((1000, 10, 10), {"complete"}, {"all-pairs", "svc", "adaboost-mh"}),
        ((1000, 5, 10), set(), {"complete", "svc"}),
        ((20_000, 10, 10), {"svc", "kernel-svm", "multiclass-svc"}, {"maxent", "ridge", "adaboost-mh"}),
        ((1_000_000, 10, 20), {"hist-gradient-boosting", "adaboost-oc", "smoothboost"}, {"maxent", "stumps"}),
        ((5000, 100, 10), {"all-pairs"}, {"one-vs-all", "dense"}),
        ((500, 2, 10), {"dense", "all-pairs", "sparse"}, {"one-vs-all"}),
    ],
)
def test_the_plan_suits_the_table_and_says_so(size, gone, stays):
    plan = make_plan(*size)
    tried = {name for cell in plan.cells for name in (cell.learner, cell.code)}
    said = " ".join(plan.left_out)
    assert stays <= tried
    assert not gone & tried
    assert all(name in said for name in gone)
    asked = make_plan(*size, learners=[*SYSTEMS, "ridge", "kernel-svm"], codes=["all-pairs", "dense", "complete"])
    assert {cell.code for cell in asked.cells} == {"", "all-pairs", "dense", "complete"}
    assert not asked.left_out


def test_systems_alone_are_said_nothing_about_codes():
    # Three classes have few splits, and the quick plan few codes.
    for quick in (False, True):
        plan = make_plan(1000, 3, learners=["svc", "maxent"], quick=quick)
        assert (plan.left_out, [cell.learner for cell in plan.cells]) == ((), ["svc", "maxent"])
    assert "dense" in " ".join(make_plan(1000, 3, learners=["svc", "ridge"]).left_out)


def test_the_names_of_a_race_are_those_of_learners_and_systems():
    assert set(named_contestants(None, 3)) <= {*LEARNERS, *SYSTEMS}


def test_by_default_every_learner_and_system_is_tried():
    tried = [cell.learner for cell in make_plan(1000, 5).cells]
    # But for the one that is for many classes, and for contestants of races.
    raced = {"random-forest", "extra-trees", "neighbours", "lightgbm", "xgboost", "catboost"}
    assert set(tried) == {*LEARNERS, *SYSTEMS} - {"nearest-centroid"} - raced
    assert "nearest-centroid" in {cell.learner for cell in make_plan(1000, 300).cells}
    # A learner's codes one after another, and nothing twice.
    assert len(set(make_plan(1000, 5).cells)) == len(tried)


def test_a_quick_plan_says_what_it_leaves_out_of_each_part():
    (note,) = make_plan(1000, 5, quick=True, decoders=["loss"]).left_out
    assert note.startswith("The quick plan leaves out the learners ridge, ")
    assert "; the codes sparse, bch, complete." in note


class Newcomer(Code):
    def _matrix(self, k, rng, problem):
        return np.where(np.arange(k)[:, None] == np.arange(k), 1, -1).astype(np.int8)


class Seldom(Newcomer):
    planning = Planning(unsuited=lambda size: "it is for two rows" if size.rows > 2 else None)


class MyRidge(Ridge):
    planning = Planning()


def test_newcomers_in_the_tables_of_names_are_tried_after_the_others(monkeypatch):
    before = make_plan(1000, 5)
    monkeypatch.setitem(CODES, "newcomer", Newcomer)
    monkeypatch.setitem(CODES, "seldom", Seldom)
    monkeypatch.setitem(LEARNERS, "my-ridge", MyRidge)
    monkeypatch.setitem(SYSTEMS, "my-system", System(DummyClassifier))
    monkeypatch.setitem(DECODERS, "my-decoder", lambda: LossBased(lambda z: np.maximum(1 - z, 0) ** 3))
    monkeypatch.setitem(LOSSES, "my-loss", Loss("my-loss", lambda z: -z, None, None, 0.0, False, False, True, False))
    plan = make_plan(1000, 5)
    tried = {name for cell in plan.cells for name in (cell.learner, cell.code, *cell.decoders)}
    assert {"newcomer", "my-ridge", "my-system", "my-decoder", "my-loss"} <= tried
    assert [cell.learner for cell in plan.cells][-1] == "my-system"
    known = before.cells[2].decoders
    assert plan.cells[2].decoders[: len(known)] == known
    assert "seldom: it is for two rows." in plan.left_out
    # They are no part of a quick plan, which says so.
    (note,) = make_plan(2, 5, quick=True).left_out
    assert all(name in note for name in ("newcomer", "seldom", "my-ridge", "my-system", "my-decoder", "my-loss"))
