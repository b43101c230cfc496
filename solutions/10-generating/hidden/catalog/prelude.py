import numpy as np


def masked_softmax(scores, mask):
    allowed = np.broadcast_to(mask, scores.shape)
    hidden = np.where(allowed, scores, -np.inf)
    largest = hidden.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exponentials = np.exp(hidden - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("d has to be even")
    angles = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    sin, cos = np.sin(angles), np.cos(angles)
    a, b = x[..., 0::2], x[..., 1::2]
    turned = np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1)
    return turned.reshape(x.shape).astype(np.result_type(x, np.float16))


def grouped_query_attention(Q, K, V, mask=None):
    group, rest = divmod(Q.shape[-3], K.shape[-3])
    if rest:
        raise ValueError("n_kv has to divide n_heads")
    K, V = np.repeat(K, group, axis=-3), np.repeat(V, group, axis=-3)
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    weights = masked_softmax(scores, True if mask is None else mask)
    return weights @ V, weights


class KVCache:
    def __init__(self, window=None):
        self.window, self.seen, self.keys, self.values = window, 0, None, None

    def __len__(self):
        return self.seen

    def append(self, k, v):
        if self.seen:
            k = np.concatenate([self.keys, k], axis=-2)
            v = np.concatenate([self.values, v], axis=-2)
        if self.window:
            k, v = k[..., -self.window :, :], v[..., -self.window :, :]
        self.keys, self.values, self.seen = k, v, self.seen + 1
        return k, v
