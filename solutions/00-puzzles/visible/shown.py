"""Functions that the puzzles show, word for word as in the exercise; some are wrong."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np


def wrong_softmax(scores):
    e = np.exp(scores)
    return e / e.sum()


def wrong_scores(Q, K):
    return Q @ K.T / np.sqrt(len(K))


def wrong_masked_row(scores, mask):
    hidden = np.where(mask, scores, -100.0)
    e = np.exp(hidden - hidden.max())
    return e / e.sum()


def wrong_split_heads(X, n_heads):
    n, d = X.shape
    return X.reshape(n_heads, n, d // n_heads)


def wrong_repeat_kv(K, groups):
    copies = groups, 1, 1
    return np.tile(K, copies)


def wrong_entropy(weights):
    large = weights[weights > 0.01]
    return -(large * np.log(large)).sum()


def wrong_layer_norm(x, gain, shift):
    centered = x - x.mean()
    return centered / np.sqrt(x.var() + 1e-5) * gain + shift


def wrong_top_p(probabilities, p):
    before = np.cumsum(probabilities) - probabilities
    found = np.where(before < p, probabilities, 0.0)
    return found / found.sum()


def softmax_a(scores):
    differences = scores[None, :] - scores[:, None]
    return 1 / np.exp(np.clip(differences, None, 700)).sum(axis=1)


def softmax_b(scores):
    e = np.exp(scores - scores.mean())
    return e / e.sum()


def softmax_c(scores):
    total = np.logaddexp.reduce(scores)
    return np.exp(scores - total)


def document_mask_a(documents):
    spots = np.arange(documents.size)
    other = documents[:, None] != documents
    return ~(other | (spots[:, None] < spots))


def document_mask_b(documents):
    same = np.equal.outer(documents, documents)
    return np.tril(same)


def document_mask_c(documents):
    starts = np.diff(documents, prepend=documents[0]) != 0
    part = starts.cumsum()
    return np.tril(part[:, None] == part)


def next_token_loss_a(logits, tokens):
    guesses, due = logits[:-1], tokens[1:]
    totals = np.logaddexp.reduce(guesses, axis=1)
    return (totals - guesses[np.arange(len(due)), due]).mean()


def next_token_loss_b(logits, tokens):
    guesses, due = logits[:-1], tokens[1:]
    totals = np.logaddexp.reduce(guesses, axis=1)
    losses = totals - guesses[np.arange(len(due)), due]
    return losses[due > 0].mean()


def next_token_loss_c(logits, tokens):
    rows = logits[:-1] - logits[:-1].max(axis=1, keepdims=True)
    due = np.eye(rows.shape[1])[tokens[1:]]
    return (np.log(np.exp(rows).sum(axis=1)) - (rows * due).sum(axis=1)).mean()


def rotate_pair_a(pair, position, theta):
    number = complex(*pair) * np.exp(1j * position * theta)
    return np.array([number.real, number.imag])


def rotate_pair_b(pair, position, theta):
    a, b = np.cos(position * theta), np.sin(position * theta)
    return np.array([[a, -b], [b, a]]) @ pair


def rotate_pair_c(pair, position, theta):
    angle = np.arctan(pair[1] / pair[0]) + position * theta
    return np.hypot(*pair) * np.array([np.cos(angle), np.sin(angle)])
