import warnings

import numpy as np


def attend_block(Q, K, V):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    m = scores.max(axis=-1)
    powers = np.exp(scores - m[..., None])
    return m, powers.sum(axis=-1), powers @ V


def merge(a, b):
    m = np.maximum(a[0], b[0])
    base = np.where(np.isneginf(m), 0, m)
    one, two = np.exp(a[0] - base), np.exp(b[0] - base)
    return m, one * a[1] + two * b[1], one[..., None] * a[2] + two[..., None] * b[2]


def blocks(seed=4):
    rng = np.random.default_rng(seed)
    s, t = rng.uniform(1, 5, (2, 2, 3))
    o, p = rng.normal(size=(2, 2, 3, 2))
    m = np.array([[0.0, 1.0, -2.0], [3.0, 0.5, 9.0]])
    n = np.array([[0.5, 1.0, -5.0], [3.5, -0.5, 7.0]])
    return (m, s, o), (n, t, p)


def hollow():
    return np.full((2, 3), -np.inf), np.zeros((2, 3)), np.zeros((2, 3, 2))


def agree(seen, wanted):
    assert isinstance(seen, (tuple, list)) and len(seen) == 3
    for x, y in zip(seen, wanted, strict=True):
        assert np.shape(x) == np.shape(y) and np.allclose(x, y)


def quietly(merge, a, b):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return merge(a, b)
    except Exception as error:
        raise AssertionError(repr(error)) from None
