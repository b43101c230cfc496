import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def attention_scores(Q, K):
    return np.matmul(Q, np.swapaxes(K, -2, -1)) / Q.shape[-1] ** 0.5
