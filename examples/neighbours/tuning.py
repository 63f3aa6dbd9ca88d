"""optuna: a search over learners, codes and their parameters.

pip install optuna
python examples/neighbours/tuning.py
"""

from __future__ import annotations

import optuna
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from outputcodes import OutputCodeClassifier
from outputcodes.learners import KernelSVM, Ridge

X, y = load_wine(return_X_y=True)
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def error(trial: optuna.Trial) -> float:
    """Return the cross-validated error of what a trial suggests."""
    if trial.suggest_categorical("learner", ["ridge", "kernel-svm"]) == "ridge":
        learner = Ridge(alpha=trial.suggest_float("alpha", 1e-3, 1e3, log=True))
    else:
        C = trial.suggest_float("C", 1e-2, 1e2, log=True)
        learner = KernelSVM(C=C, gamma=trial.suggest_float("gamma", 1e-3, 10, log=True))
    code = trial.suggest_categorical("code", ["one-vs-all", "all-pairs", "dense"])
    model = make_pipeline(StandardScaler(), OutputCodeClassifier(learner, code=code, random_state=0))
    return 1 - float(cross_val_score(model, X, y, cv=FOLDS).mean())


def search(n_trials: int = 30) -> optuna.Study:
    """Return the study after some trials."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(error, n_trials=n_trials)
    return study


def main() -> None:
    study = search()
    print(f"{study.best_value:.1%} wrong with {study.best_params}")


if __name__ == "__main__":
    main()
