"""The simulation of a large class, where its result can be told without it."""

import pytest

from benchmarks.scale import simulate


def test_one_worker_needs_the_sum_and_many_the_longest_job():
    assert simulate([1.0, 2.0, 3.0], 1, storing=0.0) == 6.0
    assert simulate([1.0, 2.0, 3.0], 3, storing=0.0) == 3.0
    assert simulate([2.0, 1.0, 1.0], 2, storing=0.0) == 2.0


def test_the_driver_is_the_limit_when_there_are_enough_workers():
    assert simulate([1.0] * 100, 100, storing=0.5) == 1.0 + 100 * 0.5
    assert simulate([1.0] * 10, 1, storing=0.5) == 10.5  # stored while others run


def test_cores_bound_what_workers_can_do():
    assert simulate([1.0] * 8, 8, storing=0.0, cores=2) == 4.0
    assert simulate([1.0] * 8, 2, storing=0.5, cores=2) == pytest.approx(6.0)
