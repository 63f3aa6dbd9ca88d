"""Progress is shown as a bar in a terminal and as lines elsewhere, with the time that is left."""

from __future__ import annotations

import io

import pytest

from outputcodes._ground import progress


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def work(stream, steps, seconds, least=0.0):
    clock = Clock()
    with (
        progress.showing(progress=progress.Progress(stream, clock, least)),
        progress.phase("training", steps, "columns"),
    ):
        for done in range(1, steps + 1):
            clock.now += seconds
            progress.reached(done, steps)


def test_lines_where_the_output_is_no_terminal():
    stream = io.StringIO()
    work(stream, 4, 2.0)
    assert stream.getvalue().splitlines() == [
        "training: 1 of 4 columns, 2 s, about 6 s left",
        "training: 2 of 4 columns, 4 s, about 4 s left",
        "training: 3 of 4 columns, 6 s, about 2 s left",
        "training: 4 of 4 columns, 8 s",
    ]


def test_short_work_leaves_no_line():
    for seconds, written in ((0.1, ""), (0.9, "training: 2 of 2 columns, 1.8 s\n")):
        stream = io.StringIO()
        work(stream, 2, seconds, least=1.5)
        assert stream.getvalue() == written


def test_a_line_per_tenth_of_the_work_none_within_a_second_and_one_per_half_minute():
    fast, steady, slow = io.StringIO(), io.StringIO(), io.StringIO()
    work(fast, 1000, 0.0009)
    assert fast.getvalue() == "training: 1000 of 1000 columns, 0.9 s\n"
    work(steady, 1000, 0.02)
    assert [line.split()[1] for line in steady.getvalue().splitlines()] == [
        *(str(number) for number in range(100, 1000, 100)),
        "1000",
    ]
    work(slow, 1000, 10.0)
    first, second, *_ = slow.getvalue().splitlines()
    assert first == "training: 3 of 1000 columns, 30 s, about 2 h 46 min left"
    assert second.startswith("training: 6 of 1000 columns, 1 min 0 s")


def test_a_bar_in_a_terminal_is_drawn_over_itself(monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    stream = Terminal()
    work(stream, 4, 2.0)
    drawn = stream.getvalue().split("\r\x1b[K")
    assert drawn == [
        "",
        "[=====...............] 1/4 columns, 2 s, about 6 s left  training",
        "[==========..........] 2/4 columns, 4 s, about 4 s left  training",
        "[===============.....] 3/4 columns, 6 s, about 2 s left  training",
        "training: 4 of 4 columns, 8 s\n",
    ]
    monkeypatch.setenv("COLUMNS", "30")
    narrow = Terminal()
    work(narrow, 4, 2.0)
    *bars, _ = narrow.getvalue().split("\r\x1b[K")
    assert max(map(len, bars)) == 29


def test_a_bar_is_not_drawn_more_often_than_can_be_seen():
    stream = Terminal()
    work(stream, 1000, 0.001)
    assert stream.getvalue().count("\r") <= 1.0 / progress.REDRAW + 2


def test_what_was_there_before_does_not_count_for_the_time_left():
    clock, stream = Clock(), io.StringIO()
    watcher = progress.Progress(stream, clock)
    with progress.showing(progress=watcher), progress.phase("comparison", 100, "trainings", done=90):
        clock.now += 5
        progress.reached(95, 100, "trainings", "ridge dense")
    assert stream.getvalue().splitlines()[0] == ("comparison: ridge dense: 95 of 100 trainings, 5 s, about 5 s left")


def interrupted():
    with progress.phase("training", 4, "columns"):
        progress.reached(1, 4)
        raise KeyboardInterrupt


def test_work_that_fails_does_not_claim_to_be_done():
    for stream in (io.StringIO(), Terminal()):
        with progress.showing(progress=progress.Progress(stream, Clock())), pytest.raises(KeyboardInterrupt):
            interrupted()
        assert "4 of 4" not in stream.getvalue()
        # The terminal continues on a clean line.
        assert not stream.isatty() or stream.getvalue().endswith("\r\x1b[K")


def test_nobody_watches_unless_asked_and_details_are_not_shown():
    progress.reached(1, 2)
    with progress.showing(0):
        assert not progress.is_watched()
    stream = io.StringIO()
    with (
        progress.showing(progress=progress.Progress(stream, Clock())),
        progress.phase("comparison", 1, "trainings"),
        progress.unwatched(),
        progress.phase("training", 2, "columns"),
    ):
        progress.reached(1, 2)
    assert stream.getvalue() == "comparison: 1 of 1 trainings, 0 s\n"
    assert not progress.is_watched()


def slow_training(clock):
    """Two phases of a single training, of 20 and 15 seconds."""
    for name in ("training", "held-out"):
        with progress.phase(name, 2, "columns"):
            clock.now += 20 if name == "training" else 15
            progress.reached(1, 2)
            progress.nearing(0.5, 0.1, "3 epochs")


def test_what_is_inside_a_unit_is_shown_with_it_and_does_not_count(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    clock, stream = Clock(), io.StringIO()
    with progress.showing(progress=progress.Progress(stream, clock)), progress.phase("comparison", 2, "trainings"):
        for done, cell in enumerate(("ridge", "svc")):
            progress.reached(done, 2, "trainings", cell)
            with progress.inside():
                slow_training(clock)
    # After half a minute without a line, and where the first of two trainings is done.
    assert stream.getvalue().splitlines() == [
        "comparison: ridge (1 of 2 columns): 0 of 2 trainings, 35 s",
        "comparison: svc (1 of 2 columns): 1 of 2 trainings, 55 s, about 15 s left",
        "comparison: 2 of 2 trainings, 1 min 10 s",
    ]
    drawn = Terminal()
    with progress.showing(progress=progress.Progress(drawn, clock)), progress.phase("comparison", 2, "trainings"):
        with progress.inside():
            slow_training(clock)
        with progress.inside():
            clock.now += 1
            progress.nearing(0.5, 0.1, "3 epochs")
    assert "0/2 trainings, 20 s  comparison (1 of 2 columns)" in drawn.getvalue()
    assert "0/2 trainings, 36 s  comparison (3 epochs, violation 0.5)" in drawn.getvalue()


def test_an_inner_request_is_shown_by_the_outer_one():
    stream = io.StringIO()
    with (
        progress.showing(progress=progress.Progress(stream, Clock())),
        progress.showing(1),
        progress.phase("a", 1, "b"),
    ):
        pass
    assert stream.getvalue() == "a: 1 of 1 b, 0 s\n"


def test_work_of_unknown_length_counts_without_an_estimate():
    for stream, line in (
        (io.StringIO(), "predictions: 5 rows, 40 s"),
        (Terminal(), "\r\x1b[K5 rows, 40 s  predictions"),
    ):
        clock = Clock()
        with progress.showing(progress=progress.Progress(stream, clock)), progress.phase("predictions", 0, "rows"):
            clock.now += 40
            progress.reached(5, 0, "rows")
            clock.now += 2
            progress.reached(7, 7, "rows")
        assert stream.getvalue().startswith(line)
        assert stream.getvalue().endswith("predictions: 7 of 7 rows, 42 s\n")
