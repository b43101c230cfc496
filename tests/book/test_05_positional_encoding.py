"""The positions of chapter 5: formula, shift and rotation against their code."""

import math

import numpy as np
import pytest
from attention import positional_encoding


@pytest.mark.parametrize("d_model", [2, 8, 64])
def test_every_entry_is_what_the_formula_says(d_model):
    encoding = positional_encoding(30, d_model)
    for p in range(30):
        for i in range(d_model // 2):
            omega = 10000 ** (-2 * i / d_model)
            assert math.isclose(encoding[p, 2 * i], math.sin(omega * p), abs_tol=1e-12)
            assert math.isclose(
                encoding[p, 2 * i + 1], math.cos(omega * p), abs_tol=1e-12
            )


def test_an_odd_width_is_refused_with_its_number():
    with pytest.raises(ValueError, match="7"):
        positional_encoding(4, 7)


def test_low_dimensions_oscillate_fast():
    encoding = positional_encoding(50, 128)[1:]
    changes = (encoding[:-1] * encoding[1:] < 0).sum(axis=0)
    assert list(changes[[0, 8, 32, 64, 126]]) == [15, 8, 1, 0, 0]


def test_the_dot_product_is_the_sum_of_cosines_of_the_offset():
    encoding = positional_encoding(200, 64)
    frequencies = 10000.0 ** (-np.arange(0, 64, 2) / 64)
    for p in (0, 50):
        offsets = np.arange(200) - p
        formula = np.cos(offsets[:, None] * frequencies).sum(axis=1)
        assert np.allclose(encoding @ encoding[p], formula)


@pytest.mark.parametrize("k", [1, 7, 40])
def test_a_shift_is_one_rotation_for_all_positions(k):
    encoding = positional_encoding(100, 16)
    shift = np.zeros((16, 16))
    for i, omega in enumerate(10000.0 ** (-np.arange(0, 16, 2) / 16)):
        c, s = math.cos(k * omega), math.sin(k * omega)
        shift[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    assert np.allclose(encoding[k:], encoding[:-k] @ shift.T)
    assert np.allclose(shift @ shift.T, np.eye(16))
