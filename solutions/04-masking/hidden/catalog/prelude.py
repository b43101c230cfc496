import numpy as np


def causal_mask(n):
    return np.tril(np.ones((n, n), dtype=bool))


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def masked_softmax(scores, mask):
    kept = np.where(mask, scores, -np.inf)
    top = np.max(kept, axis=-1, keepdims=True)
    powers = np.exp(kept - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-1, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


def attention_scores(Q, K):
    return Q @ np.swapaxes(K, -2, -1) / Q.shape[-1] ** 0.5
