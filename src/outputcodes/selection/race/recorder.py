"""What a race reports while it runs, and what it may be given from an earlier run of the same race."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outputcodes.selection.race.trials import Field, Task, Trial

if TYPE_CHECKING:
    from outputcodes.selection.race.race import Race


class Recorder:
    """Hears of every event of a race, and may know trainings of an earlier run; this one keeps and knows nothing.

    A subclass overrides what it needs and is given to `Race.fit`. All methods are called in the process that runs the
    race, one at a time.

    Attributes
    ----------
    keeps_models : bool
        Whether the best so far is fitted to stay after every lap, and `leads` called.
    wants_details : bool
        Whether, in the time that is left in the end, the winner is also trained for its learning curve and without the
        rows of one fold: `Race.curve_` and `Race.held_out_`.
    """

    keeps_models = False
    wants_details = False

    def begin(self, data: Field) -> None:
        """Hear that a race begins on a sample with these folds."""

    def earlier(self, task: Task) -> Trial | None:
        """Return the trial of a task, if an earlier run trained it."""
        return None

    def trained(self, trial: Trial) -> None:
        """Hear of a trial, or of its failure."""

    def leads(self, race: Race, final: bool) -> None:
        """Hear that a race has another model: it predicts, and its attributes are those of the best so far.

        `final` says whether it is the winner, fitted to all rows.
        """
