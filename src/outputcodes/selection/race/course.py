"""The course of a race: laps of more and more rows, on which fewer and fewer entries stay and are tuned.

A lap is a number of training rows and of folds. On the first, one contestant of every family starts. On each, the best
families are tuned: neighbouring values of the parameters, the most important first, other codes, other contestants of
the family. After each, what is clearly behind leaves. On the last lap the finalists have all rows of all folds.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes.selection.race.blend import Calibration, losses_of
from outputcodes.selection.race.contestants import Entry, codes_for
from outputcodes.selection.race.laps import Departure, Lap, Plan, Standing, clearly_behind
from outputcodes.selection.race.on_cluster import ClusterWorkers
from outputcodes.selection.race.recorder import Recorder
from outputcodes.selection.race.times import Times
from outputcodes.selection.race.trials import Field, Task, Trial
from outputcodes.selection.race.workers import STOPPED, Here, Workers
from outputcodes.selection.spaces import Space, space_of

# Rows of the first lap, and how many times as many the next one has.
FIRST_ROWS, FACTOR = 2000, 4
# Held-out rows that are enough before the last lap, and on it.
ENOUGH_HELD_OUT, ENOUGH_IN_THE_END = 1500, 5000
# Entries that stay after a lap: a third of them, but not fewer than this; all that are left in the end.
FEWEST, FINALISTS = 5, 8
# Entries of one family among the finalists, so that there is something to average.
OF_A_FAMILY = 3
# Families that are tuned on a lap (on the last one all, as long as there is time), new entries of each in a step, and
# steps if no time limit ends the tuning.
TUNED_FAMILIES, NEW_OF_A_FAMILY, TUNING_STEPS = 3, 4, 4
# Of the time: when the start is over, when the first lap is, and when those before the last one are.
START_END, FIRST_END, LAPS_END = 0.25, 0.4, 0.65
# What was never measured may take this many times as long as is left, by the table of costs, and is tried still.
ROUGHLY = 3.0
# The share of the time that a training may go on after its lap is over: it took much longer than was estimated.
GRACE = 0.1


@dataclass
class Course:
    """Runs a race. `until` is the time of `time.monotonic` by which the finalists must have been measured.

    Every trial goes to the recorder, and every model of the best so far to `kept`, with where it stands.
    """

    data: Field
    metric: str
    workers: Here | Workers | ClusterWorkers
    start: float
    until: float
    recorder: Recorder = field(default_factory=Recorder)
    kept: Callable[[Standing, Trial], None] = lambda one, trial: None
    plans: dict[Lap, Plan] = field(default_factory=dict)
    standings: dict[tuple[Entry, Lap], Standing] = field(default_factory=dict)
    departures: list[Departure] = field(default_factory=list)
    times: Times = field(default_factory=Times)
    fitted: dict[Task, Trial] = field(default_factory=dict)
    _wanted: list[Task] = field(default_factory=list)
    _scores: dict[tuple[Entry, int, int], Trial] = field(default_factory=dict)
    _spaces: dict[tuple[str, str], Space] = field(default_factory=dict)
    _failed: set[Entry] = field(default_factory=set)
    _stopped: set[Entry] = field(default_factory=set)
    _left: set[Entry] = field(default_factory=set)

    def run(self) -> list[Standing]:
        """Run all laps; return the finalists, best first."""
        laps, entries = self.laps(), self.entries()
        for number, lap in enumerate(laps):
            end, last = self._end_of(number, len(laps)), number == len(laps) - 1
            began, plan = time.monotonic(), Plan(self._cost(entries, lap))
            self.plans[lap] = plan
            title = f"lap {number + 1} of {len(laps)}, {lap.rows} rows, first about {progress.duration(plan.estimated)}"
            with progress.phase(title, len(entries), "entries"):
                if last and number > 0:
                    self._fit_on_all(entries[0])
                first_end = self._share(START_END) if number == 0 else self._end_for(entries[0], lap, end)
                there = self.measure(entries, lap, first_end)
                if number == 0 and there:
                    there = self._with_late_ones(there, entries, lap, end)
                if not there:
                    self._failed -= self._stopped
                    # Those that were in the way of the others have left; or the lap was too short for all of them.
                    self.departures = [one for one in self.departures if one.lap != lap or one.entry in self._failed]
                    there = self.measure(entries, lap, self.until)
                if not there and number == 0:
                    there = self._whatever_it_takes(entries, lap)
                if number > 0 and there:
                    there = self._with_left_out(there, lap, end)
                if len(laps) == 1:
                    self._fit_on_all(there[0].entry)
                elif there and not last and self.recorder.keeps_models:
                    self._wanted.append(Task(there[0].entry, None, lap.rows, there[0].decoder))
                if not last or len(laps) == 1 or self.until < np.inf:
                    there = self.tune(there, lap, end, all_families=last and end < np.inf)
            plan.seconds = time.monotonic() - began
            if not there:
                break
            entries = [one.entry for one in self.staying(there, last=number >= len(laps) - 2)]
        return self.ranked()

    def laps(self) -> list[Lap]:
        """Return the laps: nested parts of the training rows; few folds until the last lap, if they hold out enough."""
        full, folds, tested = len(self.data.folds[0][0]), len(self.data.folds), len(self.data.folds[0][1])
        few, more = (min(folds, -(-enough // tested)) for enough in (ENOUGH_HELD_OUT, ENOUGH_IN_THE_END))
        sizes, rows = [], max(FIRST_ROWS, 20 * self.data.k)
        while rows * 1.5 < full:
            sizes.append(rows)
            rows *= FACTOR
        return list(dict.fromkeys([*(Lap(rows, few) for rows in [*sizes, full]), Lap(full, max(2, more))]))

    def entries(self) -> list[Entry]:
        """Return the first contestant of every family, with its first code and the parameters to start with."""
        first: dict[str, str] = {}
        for name, contestant in self.data.contestants.items():
            first.setdefault(contestant.family, name)
        found = [self._first(name) for name in first.values()]
        # What is quick comes first, so that a time limit leaves out what is slow.
        rows = self.laps()[0].rows
        return sorted(found, key=lambda entry: self.seconds(entry, rows)[0])

    def _first(self, contestant: str) -> Entry:
        plain = Entry(contestant, self._codes(contestant)[0])
        return plain.having(self.space(plain).start())

    def _codes(self, contestant: str) -> tuple[str, ...]:
        return codes_for(self.data.contestants[contestant], self.data.k)

    def family(self, entry: Entry) -> str:
        """Return the family of an entry."""
        return self.data.contestants[entry.contestant].family

    def space(self, entry: Entry) -> Space:
        """Return the search space of an entry."""
        kind = entry.contestant, entry.code
        if kind not in self._spaces:
            model = self.data.build(Entry(*kind))
            space = space_of(model)
            if any(parameter.values == ("scale",) for parameter in space.parameters):
                # Only these need a look at X.
                space = space_of(model, self.data.X, self.data.y)
            tuned = self.data.contestants[entry.contestant].tuned
            self._spaces[kind] = space if tuned else replace(space, parameters=())
        return self._spaces[kind]

    def seconds(self, entry: Entry, rows: int) -> tuple[float, bool]:
        """Return about how long a training takes, and whether that is known."""
        return self.times.estimate(entry, self.times.shape(entry, rows, self.data), self.space(entry).cost)

    def measure(self, entries: Iterable[Entry], lap: Lap, end: float, new: bool = False) -> list[Standing]:
        """Train entries on a lap, as far as it is not known; return those that have all its folds, best first.

        Those that there is no time for, after the ones before them, are left out; those that are not `new` leave.
        """
        wanted = [entry for entry in dict.fromkeys(entries) if entry not in self._failed]
        left = max(0.0, end - time.monotonic()) * self.workers.count
        tasks, started = deque[Task](), set[Entry]()
        for entry in wanted:
            missing = self._missing(entry, lap)
            each, known = self.seconds(entry, lap.rows)
            seconds = each * len(missing)
            if seconds > left * (1.0 if known else ROUGHLY):
                why = (
                    f"Training on {lap.rows} rows would take about {seconds:.2g} s, too long for the rest of this lap."
                )
                if end <= time.monotonic():
                    why = "The time of this lap was over before its turn came."
                if not new:
                    self._leave(entry, lap, None, why)
                continue
            left = max(0.0, left - seconds)
            tasks.extend(missing[:1])
        tasks.extendleft(task for task in self._wanted if task not in self.fitted)
        self._wanted.clear()
        for trial in self.workers.run(tasks, end, self._grace(end)):
            self.recorder.trained(trial)
            self._note(trial, lap)
            progress.reached(len(self._scores), 0, "trainings", str(trial.task.entry))
            if trial.task.fold is not None and not trial.failed and trial.task.entry not in started:
                # The other folds begin when the first is done: what never ends must not occupy all processes.
                started.add(trial.task.entry)
                tasks.extendleft(reversed(self._missing(trial.task.entry, lap)))
            if self.recorder.keeps_models and not self.standings and (one := self._standing(trial.task.entry, lap)):
                # There is a model as soon as anything is measured.
                tasks.appendleft(Task(one.entry, None, lap.rows, one.decoder))
        found = [self._standing(entry, lap) for entry in wanted]
        gone = {one.entry for one in self.departures if one.lap == lap} | self._failed
        for entry, standing in zip(wanted, found, strict=True):
            if standing is None and entry not in gone and not new:
                self._leave(entry, lap, None, "The time of this lap was over before all of its folds were measured.")
        return sorted((one for one in found if one is not None), key=lambda one: one.key)

    def _with_late_ones(self, there: list[Standing], entries: list[Entry], lap: Lap, end: float) -> list[Standing]:
        """Measure the entries that the start was too short for: much may have to be loaded and compiled first."""
        late = [one for one in entries if (one, lap) not in self.standings and one not in self._failed]
        # What was stopped may have kept what it compiled: it gets as long again.
        stopped = [one for one in entries if one in self._stopped]
        self._failed -= self._stopped
        self.departures = [one for one in self.departures if one.entry not in {*late, *stopped}]
        found = [*self.measure(late, lap, end), *self.measure(stopped, lap, min(end, self._share(2 * START_END)))]
        return sorted([*there, *found], key=lambda one: one.key)

    def _with_left_out(self, there: list[Standing], lap: Lap, end: float) -> list[Standing]:
        """Measure families that no lap before had the time for, in half of what is left.

        The first lap may have gone by with compiling, and more time is left than was thought.
        """
        known = {self.family(one.entry) for one in self.standings.values()}
        late = [one for one in self.entries() if self.family(one) not in known and one not in self._failed]
        now = time.monotonic()
        if not late or end == np.inf or end <= now:
            return there
        self.departures = [one for one in self.departures if one.entry not in late]
        return sorted([*there, *self.measure(late, lap, now + (end - now) / 2)], key=lambda one: one.key)

    def _whatever_it_takes(self, entries: list[Entry], lap: Lap) -> list[Standing]:
        """Measure the first entry that can be trained, in this process: there was no time for any."""
        self.workers, before = Here(self.data), self.workers
        for entry in entries:
            if there := self.measure([entry], lap, np.inf):
                self.workers = before
                return there
        raise ValueError("No contestant could be trained. " + " ".join(d.why for d in self.departures[:3]))

    def _missing(self, entry: Entry, lap: Lap) -> list[Task]:
        every = [Task(entry, fold, lap.rows) for fold in range(lap.folds)]
        for task in every:
            if (entry, lap.rows, task.fold) not in self._scores and (before := self.recorder.earlier(task)) is not None:
                self._note(before, lap)
        return [task for task in every if (entry, lap.rows, task.fold) not in self._scores]

    def tune(self, there: list[Standing], lap: Lap, end: float, all_families: bool = False) -> list[Standing]:
        """Try what is next to the leaders of the best families, as long as there is something new.

        With `all_families`, others follow when there is nothing new next to these, unless they are clearly behind.
        """
        seen = {one.entry for one in there}
        for _ in range(TUNING_STEPS if end == np.inf else 100):
            leaders: dict[str, Standing] = {}
            for one in there:
                leaders.setdefault(self.family(one.entry), one)
            new: list[Entry] = []
            for place, one in enumerate(leaders.values()):
                if place >= TUNED_FAMILIES and (new or not all_families or clearly_behind(one, there[0])):
                    break
                fresh = (entry for entry in self.neighbours(one.entry) if entry not in seen | self._left)
                new += itertools.islice(fresh, NEW_OF_A_FAMILY)
            if not new or time.monotonic() >= end:
                break
            seen.update(new)
            there = sorted([*there, *self.measure(new, lap, end, new=True)], key=lambda one: one.key)
        return there

    def neighbours(self, entry: Entry) -> Iterator[Entry]:
        """Yield the entries next to one: the next values of each parameter, other codes, others of its family."""
        values = dict(entry.parameters)
        for parameter in self.space(entry).parameters:
            at = parameter.values.index(values[parameter.name])
            for near in (at - 1, at + 1):
                if 0 <= near < len(parameter.values):
                    yield entry.having({parameter.name: parameter.values[near]})
        for code in self._codes(entry.contestant):
            yield Entry(entry.contestant, code, entry.parameters)
        for name, contestant in self.data.contestants.items():
            if contestant.family == self.family(entry):
                yield self._first(name)

    def staying(self, there: list[Standing], last: bool) -> list[Standing]:
        """Return the entries that go on: the best of each family, then the second best; note why the others leave.

        Those that are not clearly behind are the best of their family, or among the best.
        """
        best = there[0]
        kept: list[Standing] = []
        turns: list[int] = []
        families: dict[str, int] = {}
        room = FINALISTS if last else max(FEWEST, len(there) // 3)
        for one in there:
            number = families.get(self.family(one.entry), 0)
            if clearly_behind(one, best):
                why = f"It is clearly behind {best.entry}."
            elif len(kept) >= room and number > 0:
                why = f"{len(kept)} others are better."
            elif number >= OF_A_FAMILY:
                why = f"{number} others of its family, {self.family(one.entry)}, are better."
            else:
                kept.append(one)
                turns.append(number)
                families[self.family(one.entry)] = number + 1
                continue
            self._leave(one.entry, one.lap, one.loss, why)
            self._left.add(one.entry)
        return [kept[i] for i in np.argsort(turns, kind="stable")]

    def ranked(self) -> list[Standing]:
        """Return the standings of the last lap, best first; of the one before, if its leader is not among them."""
        by_lap: dict[Lap, list[Standing]] = {}
        for one in self.standings.values():
            by_lap.setdefault(one.lap, []).append(one)
        laps = sorted(by_lap, key=lambda lap: (lap.rows, lap.folds))
        ranked = [sorted(by_lap[lap], key=lambda one: one.key) for lap in laps]
        while len(ranked) > 1 and ranked[-2][0].entry not in {one.entry for one in ranked[-1]}:
            ranked.pop()
        return ranked[-1]

    def _fit_on_all(self, leader: Entry) -> None:
        """Let the next trainings begin with one of the leader on all rows: then there is a model, whatever happens."""
        left = self.until - time.monotonic()
        if self.workers.count == 1 and self.seconds(leader, len(self.data.y))[0] > left / 2:
            return
        self._wanted.append(Task(leader, None, len(self.data.y), self._latest(leader).decoder))

    def _latest(self, entry: Entry) -> Standing:
        """The standing of an entry on the largest lap that it has run."""
        return max((one for one in self.standings.values() if one.entry == entry), key=lambda one: one.lap.rows)

    def _cost(self, entries: list[Entry], lap: Lap) -> float:
        """About how long entries take on a lap, in seconds of this race."""
        return (
            sum(self.seconds(one, lap.rows)[0] * len(self._missing(one, lap)) for one in entries) / self.workers.count
        )

    def _end_of(self, number: int, n_laps: int) -> float:
        """The time after which no training of a lap begins."""
        if self.until == np.inf or number == n_laps - 1:
            return self.until
        return self._share(FIRST_END + (LAPS_END - FIRST_END) * number / max(1, n_laps - 2))

    def _end_for(self, leader: Entry, lap: Lap, end: float) -> float:
        """The end of a lap; if that is too early for its leader, the end of all laps."""
        return end if self.seconds(leader, lap.rows)[0] < end - time.monotonic() else self.until

    def _grace(self, end: float) -> float:
        """How long trainings may go on that began before a lap was over."""
        return end if end == np.inf else end + GRACE * (self.until - self.start)

    def _share(self, share: float) -> float:
        """The time at which a share of all is over."""
        return np.inf if self.until == np.inf else self.start + (self.until - self.start) * share

    def _note(self, trial: Trial, lap: Lap) -> None:
        task = trial.task
        if task.fold is None:
            if not trial.failed:
                self.fitted[task] = trial
                self.kept(self._latest(task.entry), trial)
            return
        if trial.failed:
            if task.entry not in self._failed:
                self._leave(task.entry, lap, None, trial.failed)
            self._failed.add(task.entry)
            if trial.failed == STOPPED:
                self._stopped.add(task.entry)
            return
        self._scores[task.entry, task.rows, task.fold] = trial
        self.times.note(task.entry, self.times.shape(task.entry, task.rows, self.data), trial.seconds)

    def _standing(self, entry: Entry, lap: Lap) -> Standing | None:
        trials = [self._scores.get((entry, lap.rows, f)) for f in range(lap.folds)]
        whole = [trial for trial in trials if trial is not None]
        if len(whole) < lap.folds:
            return None
        y = np.concatenate([self.data.y[self.data.folds[f][1]] for f in range(lap.folds)])
        seconds = float(np.mean([trial.seconds for trial in whole]))
        read = [
            self._read(entry, lap, name, np.concatenate([trial.scores[name] for trial in whole]), y, seconds)
            for name in whole[0].scores
            if all(name in trial.scores for trial in whole)
        ]
        best = min(read, key=lambda one: one.key)
        self.standings[entry, lap] = best
        return best

    def _read(
        self, entry: Entry, lap: Lap, decoder: str, D: NDArray[Any], y: NDArray[np.intp], seconds: float
    ) -> Standing:
        calibration = Calibration.of(D, y)
        P = calibration(D).astype(np.float32)
        log_loss = float(losses_of(P, y, "log-loss").mean())
        return Standing(entry, lap, decoder, calibration, P, losses_of(P, y, self.metric), log_loss, seconds)

    def _leave(self, entry: Entry, lap: Lap, loss: float | None, why: str) -> None:
        self.departures.append(Departure(entry, lap, loss, why))
