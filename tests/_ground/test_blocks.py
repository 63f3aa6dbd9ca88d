"""Threads over blocks: a pool is used again, but never by two at a time, nor after an error, nor in a fork."""

import os
import threading
import time

import pytest

from outputcodes._ground.blocks import threads


def names(run):
    """Which threads do the work of two tasks that wait for each other."""
    together = threading.Barrier(2, timeout=10)
    return set(run(lambda _: (together.wait(), threading.get_ident())[1], range(2)))


def test_one_after_another_share_their_threads():
    with threads(2) as run:
        first = names(run)
    with threads(2) as run:
        assert names(run) == first
    assert threading.get_ident() in first


def test_one_within_another_has_threads_of_its_own():
    with threads(2) as outer, threads(2) as inner:
        assert names(outer) & names(inner) == {threading.get_ident()}
    both = threading.Barrier(2, timeout=10)

    def nested(_):
        with threads(2) as run:
            both.wait()
            mine = names(run)
            both.wait()
            return mine

    with threads(2) as run:
        ones, others = run(nested, range(2))
    assert not ones & others


def test_of_many_at_a_time_one_pool_stays():
    before, everyone = threading.active_count(), threading.Barrier(8, timeout=10)

    def use():
        with threads(3) as run:
            everyone.wait()
            names(run)

    users = [threading.Thread(target=use) for _ in range(8)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert threading.active_count() <= before + 3


def test_after_an_error_nothing_is_under_way():
    begun, done = [], []

    def work(item):
        if item == 0:
            raise ValueError("the first")
        begun.append(item)
        time.sleep(0.05)
        done.append(item)

    with threads(2) as run:
        with pytest.raises(ValueError, match="the first"):
            run(work, range(100))
        assert len(done) == len(begun) < 99
        assert run(abs, [-1, 2]) == [1, 2]


def test_an_error_of_a_helper_is_raised_too():
    own, together = threading.get_ident(), threading.Barrier(2, timeout=10)

    def work(_):
        together.wait()
        if threading.get_ident() != own:
            raise ValueError("not mine")

    with threads(2) as run, pytest.raises(ValueError, match="not mine"):
        run(work, range(2))


def test_of_two_errors_that_of_the_first_item_is_raised():
    together = threading.Barrier(2, timeout=10)

    def work(item):
        together.wait()
        time.sleep(0.05 * (1 - item))
        raise ValueError(f"item {item}")

    with threads(2) as run:
        for _ in range(3):
            with pytest.raises(ValueError, match="item 0"):
                run(work, range(2))


def test_an_interrupt_is_raised_before_an_error_of_an_earlier_item():
    together = threading.Barrier(2, timeout=10)

    def work(item):
        together.wait()
        raise KeyboardInterrupt if item else ValueError("item 0")

    with threads(2) as run, pytest.raises(KeyboardInterrupt):
        run(work, range(2))


def test_work_that_asks_for_threads_again_does_not_wait_for_busy_ones():
    with threads(2) as run:
        assert run(lambda more: run(abs, more), [[-1, -2], [-3, 4]]) == [[1, 2], [3, 4]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("inside", [False, True], ids=["between two uses", "within one"])
def test_a_forked_process_starts_threads_of_its_own(inside):
    with threads(2) as run:
        run(abs, range(4))
        child = os.fork() if inside else None
    child = os.fork() if child is None else child
    if child == 0:
        with threads(2) as run:
            os._exit(0 if run(abs, [-1, 2]) == [1, 2] else 1)
    deadline = time.monotonic() + 20
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended[0] == 0:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert ended == (child, 0)
