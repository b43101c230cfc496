"""What students get wrong, and right, in 09-language-model."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks import language_model as check
from autograder.checks.catalog import BATCHES, LARGE, Catalog
from autograder.checks.encoder_layer.cases import layer_shapes
from autograder.checks.encoder_layer.catalog import PRELUDE, behavior
from autograder.checks.gradients import gradients
from autograder.checks.language_model import generator
from autograder.checks.library import library
from autograder.checks.outcomes import outcome
from autograder.checks.tensors import seeded

catalog = Catalog(check.assignment, PRELUDE)

# ------------------------------------------------------- next_token_loss

loss = catalog.about(
    check.next_token_loss,
    """
def next_token_loss(logits, tokens, mask=None):
    guesses, targets = logits[:, :-1], tokens[:, 1:]
    picked = guesses.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    losses = guesses.logsumexp(dim=-1) - picked
    if mask is None:
        return losses.mean()
    real = mask[:, 1:]
    return losses[real].mean()
""",
)

loss.edit(
    "no-shift",
    "Each position is scored on its own token; it has to guess the next one.",
    ("logits[:, :-1], tokens[:, 1:]", "logits, tokens"),
    ("mask[:, 1:]", "mask"),
)
loss.edit(
    "shifted-back",
    "The shift goes the wrong way: position t is scored on token t − 1.",
    ("logits[:, :-1], tokens[:, 1:]", "logits[:, 1:], tokens[:, :-1]"),
    ("mask[:, 1:]", "mask[:, :-1]"),
)
loss.edit(
    "rolled",
    "`roll` makes the first token the target of the last position; that position "
    "has no target.",
    ("logits[:, :-1], tokens[:, 1:]", "logits, tokens.roll(-1, dims=1)"),
    ("mask[:, 1:]", "mask.roll(-1, dims=1)"),
)
loss.edit(
    "sum",
    "This is the sum of the losses; the mean is asked for.",
    ("losses.mean()", "losses.sum()"),
    ("losses[real].mean()", "losses[real].sum()"),
)
loss.edit(
    "mean-of-means",
    "Each text is averaged first; then a guess in a short text counts more than "
    "one in a long text.",
    (
        "losses[real].mean()",
        "((losses * real).sum(1) / real.sum(1).clamp(min=1)).mean()",
    ),
)
loss.edit(
    "mask-of-inputs",
    "The mask is that of the tokens which guess; it belongs to the targets.",
    ("mask[:, 1:]", "mask[:, :-1]"),
)
loss.edit(
    "mask-of-both",
    "A real target after padding is left out; only the target has to be real.",
    ("mask[:, 1:]", "mask[:, 1:] & mask[:, :-1]"),
)
loss.edit(
    "mask-ignored",
    "The mask is not used: padding counts as a target.",
    ("losses[real].mean()", "losses.mean()"),
)
loss.edit(
    "mask-inverted",
    "The mask is inverted: True stands for a real token.",
    ("mask[:, 1:]", "~mask[:, 1:]"),
)
loss.edit(
    "divided-by-all",
    "The sum over real targets is divided by the number of all; divide by how many "
    "are real.",
    ("losses[real].mean()", "(losses * real).mean()"),
)
loss.edit(
    "zero-is-padding",
    "Token 0 is treated as padding; which tokens are real is said by the mask alone.",
    ("mask[:, 1:]", "mask[:, 1:] & (targets != 0)"),
    ("losses.mean()", "losses[targets != 0].mean()"),
)
loss.edit(
    "bits",
    "The logarithm has base 2; nats are asked for.",
    ("losses = guesses.logsumexp(dim=-1) - picked", "losses = _bits(guesses, picked)"),
    (
        "def next_token_loss",
        "def _bits(guesses, picked):\n"
        "    return (guesses.logsumexp(dim=-1) - picked) / math.log(2)\n\n\n"
        "def next_token_loss",
    ),
)
loss.edit(
    "softmax-twice",
    "The logits go through a softmax before the cross-entropy, which has one inside.",
    ("logits[:, :-1], tokens", "logits[:, :-1].softmax(dim=-1), tokens"),
)
loss.edit(
    "sign",
    "The sign is missing: the loss is minus the logarithm of the probability.",
    ("guesses.logsumexp(dim=-1) - picked", "picked - guesses.logsumexp(dim=-1)"),
)
loss.edit(
    "overflow",
    "Exponentials of large logits overflow; torch has the logarithm of a softmax "
    "in one step.",
    ("guesses.logsumexp(dim=-1)", "guesses.exp().sum(dim=-1).log()"),
    unseen=LARGE,
)
loss.edit(
    "log-of-softmax",
    "The logarithm is taken of a softmax that may have become 0; torch has both in "
    "one step.",
    (
        "picked = guesses.gather(-1, targets.unsqueeze(-1)).squeeze(-1)",
        "p = guesses.softmax(dim=-1)\n"
        "    picked = p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)",
    ),
    ("guesses.logsumexp(dim=-1) - picked", "-picked.log()"),
    unseen=LARGE,
)
loss.edit(
    "python-number",
    "The loss is a Python number; as a tensor it would carry a gradient.",
    ("losses.mean()", "losses.mean().item()"),
    ("losses[real].mean()", "losses[real].mean().item()"),
)
loss.edit(
    "divided-by-real-tokens",
    "The sum is divided by how many tokens are real; the first of each text is no "
    "target. Divide by how many targets are real.",
    ("losses[real].mean()", "(losses * real).sum() / mask.sum()"),
)
loss.edit(
    "reshaped",
    "`cross_entropy` wants the vocabulary on the second axis; `transpose` moves it "
    "there, `reshape` mixes it with the positions.",
    (
        "    picked = guesses.gather(-1, targets.unsqueeze(-1)).squeeze(-1)\n"
        "    losses = guesses.logsumexp(dim=-1) - picked\n",
        "    batch, n, vocabulary = guesses.shape\n"
        "    mixed = guesses.reshape(batch, vocabulary, n)\n"
        '    losses = F.cross_entropy(mixed, targets, reduction="none")\n',
    ),
)
loss.wrong(
    "changes-the-tokens",
    "Padding is overwritten in the tokens that came in, which change for the caller; "
    "work on a copy.",
    """
    if mask is not None:
        tokens[~mask] = -100
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:])
""",
)
loss.edit(
    "one-for-each-text",
    "The result has one loss for each text; the mean over all real targets is one "
    "number.",
    ("losses.mean()", "losses.mean(dim=1)"),
    ("losses[real].mean()", "(losses * real).sum(1) / real.sum(1)"),
)
loss.edit(
    "view-of-a-cut",
    "`view` cannot follow a cut along the tokens, for what is left no longer lies one "
    "behind the other; `reshape` copies it where it has to.",
    (
        "    picked = guesses.gather(-1, targets.unsqueeze(-1)).squeeze(-1)\n"
        "    losses = guesses.logsumexp(dim=-1) - picked\n",
        "    flat = guesses.view(-1, guesses.shape[-1])\n"
        '    losses = F.cross_entropy(flat, targets.reshape(-1), reduction="none")\n'
        "    losses = losses.reshape(targets.shape)\n",
    ),
)
loss.edit(
    "zeroed-logits",
    "The logits of padding become 0, which is a guess like any other, and its loss "
    "counts; leave losses out, not logits.",
    (
        "    guesses, targets",
        "    if mask is not None:\n"
        "        logits = logits * mask[..., None]\n"
        "    guesses, targets",
    ),
    ("losses[real].mean()", "losses.mean()"),
)
loss.edit(
    "softmax-over-positions",
    "The softmax runs over the positions; at each position it has to run over the "
    "vocabulary.",
    (
        "    picked = guesses.gather(-1, targets.unsqueeze(-1)).squeeze(-1)\n"
        "    losses = guesses.logsumexp(dim=-1) - picked\n",
        "    logs = guesses.log_softmax(dim=1)\n"
        "    losses = -logs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)\n",
    ),
)
loss.edit(
    "detached",
    "The loss is cut off from the logits, so nothing can learn from it.",
    ("logits[:, :-1], tokens", "logits[:, :-1].detach(), tokens"),
)
loss.right(
    "cross-entropy",
    """
def next_token_loss(logits, tokens, mask=None):
    targets = tokens[:, 1:].clone()
    if mask is not None:
        targets[~mask[:, 1:]] = -100
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), targets)
""",
)
loss.right(
    "flat",
    """
def next_token_loss(logits, tokens, mask=None):
    vocabulary = logits.shape[-1]
    guesses = logits[:, :-1].reshape(-1, vocabulary)
    targets = tokens[:, 1:].reshape(-1)
    if mask is not None:
        keep = mask[:, 1:].reshape(-1)
        guesses, targets = guesses[keep], targets[keep]
    return F.cross_entropy(guesses, targets)
""",
)
loss.right(
    "log-softmax",
    """
def next_token_loss(logits, tokens, mask=None):
    log_p = F.log_softmax(logits, dim=-1)[:, :-1]
    losses = -log_p.gather(2, tokens[:, 1:, None])[..., 0]
    weights = torch.ones_like(losses) if mask is None else mask[:, 1:].to(losses)
    return (losses * weights).sum() / weights.sum()
""",
)
loss.right(
    "loops",
    """
def next_token_loss(logits, tokens, mask=None):
    losses = []
    batch, n = tokens.shape
    for b in range(batch):
        for t in range(n - 1):
            if mask is None or mask[b, t + 1]:
                losses.append(-logits[b, t].log_softmax(-1)[tokens[b, t + 1]])
    return torch.stack(losses).mean()
""",
)
loss.equivalent(
    "an axis of size 1 more does not change the mean",
    "costs = -log_shares.gather(2, wanted).squeeze(2) -> "
    "costs = -log_shares.gather(2, wanted).squeeze(1)",
)


@loss.probe
def outcomes_of_loss(answer: Any) -> list:
    """Tell losses apart by shift, mask, extremes, kind and gradient."""
    logits, tokens = seeded(2, 5, 4), torch.tensor([[1, 0, 3, 2, 2], [2, 1, 0, 0, 3]])
    mask = torch.tensor([[True, False, True, True, False], [True, True] + [False] * 3])
    found = [
        outcome(answer, logits, tokens),
        outcome(answer, logits, tokens, mask),
        outcome(answer, 1000 * logits, tokens),
        outcome(answer, logits + 200, tokens),
    ]
    found.append(type(found[0][1]).__name__)
    return [*found, has_gradient(answer, logits, tokens)]


def has_gradient(answer: Any, logits: torch.Tensor, tokens: torch.Tensor) -> bool:
    try:
        found = gradients(answer, logits, tokens, weights=torch.ones(()))
    except Exception:
        return False
    return found["inputs"][0] is not None


# ---------------------------------------------------------------- sample

draw = catalog.about(
    check.sample,
    """
def sample(logits, temperature, top_k, generator):
    if temperature < 0:
        raise ValueError("negative")
    if temperature == 0:
        return logits.argmax(dim=-1)
    if top_k is not None:
        kth = logits.topk(top_k, dim=-1).values[:, -1:]
        logits = logits.masked_fill(logits < kth, -math.inf)
    p = (logits / temperature).softmax(dim=-1)
    return torch.multinomial(p, 1, generator=generator).squeeze(1)
""",
)

draw.edit(
    "multiplied",
    "The logits are multiplied by the temperature; they have to be divided by it.",
    ("logits / temperature", "logits * temperature"),
)
draw.edit(
    "probabilities-divided",
    "The probabilities are divided by the temperature, which changes nothing; divide "
    "the logits, before the softmax.",
    ("(logits / temperature).softmax(dim=-1)", "logits.softmax(dim=-1) / temperature"),
)
draw.edit(
    "no-top-k",
    "`top_k` drops nothing: all tokens come up.",
    ("if top_k is not None:", "if False:"),
)
draw.edit(
    "smallest-k",
    "The k smallest logits are kept; keep the largest.",
    ("logits.topk(top_k, dim=-1)", "logits.topk(top_k, dim=-1, largest=False)"),
    ("logits < kth", "logits > kth"),
)
draw.edit(
    "zeros-for-the-rest",
    "The other logits become 0, and 0 is a logit like any other; minus infinity has "
    "probability 0.",
    ("-math.inf", "0.0"),
)
draw.edit(
    "one-too-few",
    "The k-th largest logit is thrown away too: k − 1 are kept.",
    ("logits < kth", "logits <= kth"),
)
draw.edit(
    "one-too-many",
    "One logit too many is kept: k + 1.",
    ("topk(top_k,", "topk(min(top_k + 1, logits.shape[-1]),"),
)
draw.edit(
    "places-not-ids",
    "What is returned is the place among the k largest; translate it back to a "
    "token id.",
    ("kth = logits.topk(top_k, dim=-1).values[:, -1:]", "kept = logits.topk(top_k)"),
    ("logits = logits.masked_fill(logits < kth, -math.inf)", "logits = kept.values"),
)
draw.edit(
    "one-threshold",
    "One threshold serves all rows; each row has its own k largest.",
    ("values[:, -1:]", "values.min()"),
)
draw.edit(
    "zero-not-handled",
    "Temperature 0 divides by 0; it stands for the largest logit.",
    ("if temperature == 0:", "if False:"),
)
draw.edit(
    "zero-is-one",
    "Temperature 0 is treated as 1; it stands for the largest logit.",
    (
        "if temperature == 0:\n        return logits.argmax(dim=-1)",
        "temperature = temperature or 1.0",
    ),
)
draw.edit(
    "always-the-largest",
    "The largest logit is always taken; tokens have to be drawn.",
    ("temperature == 0", "temperature >= 0"),
)
draw.edit(
    "negative-accepted",
    "A negative temperature turns the order of the logits around; refuse it.",
    ("if temperature < 0:", "if False:"),
)
draw.edit(
    "generator-ignored",
    "The generator is not passed on, so a draw cannot be repeated.",
    (", generator=generator", ""),
)
draw.edit(
    "reseeded",
    "The function seeds the generator itself, so that every draw is the same one.",
    ("    p = (", "    generator.manual_seed(0)\n    p = ("),
)
draw.edit(
    "one-draw-for-all",
    "All rows share one random number; each row has to be drawn by itself.",
    (
        "return torch.multinomial(p, 1, generator=generator).squeeze(1)",
        "u = torch.rand(1, generator=generator)\n"
        "    return (p.cumsum(-1) < u).sum(-1).clamp(max=p.shape[-1] - 1)",
    ),
)
draw.edit(
    "column",
    "The result has shape (batch, 1); one axis too many.",
    (".squeeze(1)", ""),
)
draw.edit(
    "overflow",
    "Exponentials of large logits overflow; the softmax of torch takes care of it.",
    (
        "p = (logits / temperature).softmax(dim=-1)",
        "p = (logits / temperature).exp()\n    p = p / p.sum(-1, keepdim=True)",
    ),
    unseen=LARGE,
)
draw.edit(
    "changes-the-logits",
    "The logits that came in are changed; work on a copy.",
    (
        "logits = logits.masked_fill(logits < kth, -math.inf)",
        "logits[logits < kth] = -math.inf",
    ),
)
draw.edit(
    "squeezed",
    "`squeeze()` drops every axis of size 1, that of a batch of one as well; "
    "`squeeze(1)` drops the last one.",
    (".squeeze(1)", ".squeeze()"),
    unseen=BATCHES,
)
draw.edit(
    "zero-refused",
    "Temperature 0 is refused; it stands for the largest logit.",
    ("temperature < 0", "temperature <= 0"),
)
draw.edit(
    "softmax-over-the-batch",
    "The softmax runs over the batch; each row is a distribution of its own.",
    ("softmax(dim=-1)", "softmax(dim=0)"),
)
draw.also(
    "one-draw-for-all",
    draw.edited(
        (
            "return torch.multinomial(p, 1, generator=generator).squeeze(1)",
            "return torch.multinomial(p[0], 1, generator=generator).expand(len(p))",
        ),
    ),
)
draw.edit(
    "none-compared",
    "`top_k` may be None, which no number is compared with; ask whether it is None "
    "first.",
    ("top_k is not None", "top_k > 0"),
)
draw.edit(
    "list",
    "A list of numbers is returned; a tensor is asked for.",
    (".squeeze(1)", ".squeeze(1).tolist()"),
)
draw.edit(
    "greedy-below-one",
    "The temperature is rounded down: below 1 the largest logit is always taken.",
    ("temperature == 0", "int(temperature) == 0"),
)
draw.right(
    "gumbel",
    """
    if temperature < 0:
        raise ValueError(f"temperature {temperature} is negative")
    if temperature == 0:
        return logits.argmax(dim=-1)
    if top_k is not None:
        kept = torch.zeros_like(logits, dtype=torch.bool)
        kept.scatter_(1, logits.topk(top_k).indices, True)
        logits = logits.masked_fill(~kept, -math.inf)
    u = torch.rand(logits.shape, generator=generator, dtype=torch.float64)
    return (logits / temperature - (-u.log()).log()).argmax(dim=-1)
""",
)
draw.right(
    "among-the-kept",
    """
    if temperature < 0:
        raise ValueError(temperature)
    if not temperature:
        return logits.max(dim=-1).indices
    values, ids = logits.topk(top_k or logits.shape[-1], dim=-1)
    place = torch.multinomial(
        torch.softmax(values / temperature, -1), 1, generator=generator
    )
    return ids.gather(1, place)[:, 0]
""",
)
draw.right(
    "inverse",
    """
    if temperature < 0:
        raise ValueError("below 0")
    if temperature == 0:
        return torch.argmax(logits, 1)
    p = F.softmax(logits.double() / temperature, dim=-1)
    if top_k is not None:
        p = torch.where(logits >= logits.sort(descending=True).values[:, [top_k - 1]],
                        p, 0.0)
    edges = p.cumsum(dim=-1)
    u = torch.rand(len(p), 1, generator=generator, dtype=torch.float64)
    return torch.searchsorted(edges, u * edges[:, -1:]).squeeze(1)
""",
)
draw.right(
    "row-by-row",
    """
    if temperature < 0:
        raise ValueError("a temperature is not negative")
    drawn = []
    for row in logits:
        if temperature == 0:
            drawn.append(int(row.argmax()))
            continue
        row = row / temperature
        if top_k is not None:
            order = row.argsort(descending=True)
            row = row.clone()
            row[order[top_k:]] = -math.inf
        drawn.append(int(torch.multinomial(row.softmax(0), 1, generator=generator)))
    return torch.tensor(drawn)
""",
)

draw.equivalent(
    "the array has two axes",
    "best, places = logits.sort(dim=1, descending=True) -> "
    "best, places = logits.sort(descending=True)",
)

# Draws differ from one right answer to the next, so outcomes are told by which of
# these distributions the shares of the tokens come close to.
P = np.array([0.3, 0.05, 0.25, 0.4])
TIMES = 6000
KEPT = {"all": [0, 1, 2, 3], "1": [3], "2": [0, 3], "3": [0, 2, 3], "smallest": [1, 2]}


def normal(powers: Any) -> np.ndarray:
    powers = np.asarray(powers, dtype=float)
    return powers / powers.sum()


KNOWN = {f"kept {name}": normal(P * np.isin(range(4), k)) for name, k in KEPT.items()}
KNOWN |= {"squared": normal(P**2), "rooted": normal(P**0.5), "even": normal(P**0)}
KNOWN |= {"zeros": normal([0.3, 1, 1, 0.4]), "places": normal([0.4, 0.3, 0, 0])}


def kind_of(answer: Any, rows: torch.Tensor, temperature: float, top_k: Any) -> list:
    """What sort of result came, whether the logits changed, and how they were drawn."""
    given = rows.clone()
    found = outcome(answer, given, temperature, top_k, generator(answer, 1))
    changed = not torch.equal(given, rows)
    if found[0] == "raised":
        return [*found[:2], changed]
    if not hasattr(found[1], "detach"):
        return [type(found[1]).__name__, changed]
    drawn = found[1].detach().numpy()
    if drawn.shape != rows.shape[:1] or drawn.dtype.kind != "i":
        return [str(drawn.shape), drawn.dtype.kind, changed]
    if len(drawn) < TIMES:
        return ["too few to tell", changed]
    shares = np.bincount(drawn[-TIMES:].clip(0, 3), minlength=4) / TIMES
    near = [name for name, p in KNOWN.items() if np.abs(shares - p).max() < 0.03]
    return [*near, changed]


def one_for_all(answer: Any) -> bool:
    """Whether even rows always draw the same token, and that by chance."""
    chance, found = generator(answer, 4), []
    for _ in range(12):
        result = outcome(answer, torch.zeros(60, 8), 1.0, None, chance)
        if result[0] == "raised" or getattr(result[1], "shape", ()) != (60,):
            return False
        found.append(result[1].detach().numpy())
    alike = all((drawn == drawn[0]).all() for drawn in found)
    return alike and len({int(drawn[0]) for drawn in found}) > 1


def twice(answer: Any, *generators: Any) -> str:
    """Whether two draws from 60 even rows agree, and whether they vary at all."""
    found = []
    for one in generators:
        result = outcome(answer, torch.zeros(60, 8), 1.0, None, one)
        if result[0] == "raised" or not hasattr(result[1], "detach"):
            return "no draw"
        found.append(result[1].detach().numpy())
    varied = len(np.unique(found[0])) > 1
    return f"same {np.array_equal(*found)}, varied {varied}"


@draw.probe
def outcomes_of_sample(answer: Any) -> list:
    """Tell samplers apart by what comes how often, by chance, and by errors."""
    if one_for_all(answer):
        return ["one draw for all"]  # which token it is, is by chance
    row = torch.from_numpy(np.log(P))
    many = row.repeat(TIMES, 1)
    both = torch.cat([many - 10, many])  # the second half has larger logits
    cases = [(many, 1.0, None), (many, 2.0, None), (many, 0.5, None), (many, 1.0, 2)]
    cases += [(both, 1.0, 2), (many, 0, None), (many, -1.0, None)]
    cases += [(many + 1000, 1.0, None), (row[None], 1.0, None)]
    found = [kind_of(answer, *case) for case in cases]
    shared = generator(answer, 2)
    found.append(twice(answer, shared, shared))
    library(answer, "torch", "manual_seed")(1)
    found.append(twice(answer, generator(answer, 3), generator(answer, 3)))
    return found


# ---------------------------------------------------------- DecoderLayer

layer = catalog.about(
    check.DecoderLayer,
    """
class DecoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        n = x.shape[1]
        mask = torch.ones(n, n, dtype=torch.bool).tril()
        y = self.norm1(x)
        attended, _ = self.self_attn(y, y, y, mask)
        x = x + self.dropout(attended)
        x = x + self.dropout(self.ffn(self.norm2(x)))
        return x
""",
)

layer.edit(
    "no-mask",
    "No mask: every token sees what comes after it.",
    ("y, y, y, mask", "y, y, y"),
)
layer.edit(
    "mask-inverted",
    'The mask is turned around: True stands for "may attend".',
    (".tril()", ".triu(1)"),
)
layer.edit(
    "one-ahead",
    "The diagonal is off by one: each token sees the next, which it has to guess.",
    (".tril()", ".tril(1)"),
)
layer.edit(
    "not-itself",
    "The diagonal is off by one: a token may not see itself, and to the first nothing "
    "else is left.",
    (".tril()", ".tril(-1)"),
)
layer.edit(
    "float-mask",
    "The mask holds numbers; the attention that is given wants booleans.",
    ("torch.ones(n, n, dtype=torch.bool)", "torch.ones(n, n)"),
)
layer.edit(
    "pair-not-unpacked",
    "self_attn returns a pair, output and weights; only the output goes on.",
    ("attended, _ = self", "attended = self"),
)
layer.edit(
    "batch-axis",
    "The mask has the size of the batch; it needs one row and column for each token.",
    ("x.shape[1]", "x.shape[0]"),
)
layer.edit(
    "post-norm",
    "This is post-norm: each norm comes after the sum; pre-norm is asked for.",
    ("y = self.norm1(x)", "y = x"),
    ("x = x + self.dropout(attended)", "x = self.norm1(x + self.dropout(attended))"),
    (
        "x = x + self.dropout(self.ffn(self.norm2(x)))",
        "x = self.norm2(x + self.dropout(self.ffn(x)))",
    ),
)
layer.edit(
    "normalized-stream",
    "The residual adds the normalized tokens; the stream itself is not normalized.",
    ("x = x + self.dropout(attended)", "x = y + self.dropout(attended)"),
)
layer.edit(
    "query-only",
    "Only the queries are normalized; keys and values come from the same normalized "
    "tokens.",
    ("y, y, y, mask", "y, x, x, mask"),
)
layer.edit(
    "norm-of-the-branch",
    "The norm stands after the branch; pre-norm normalizes what goes into it.",
    ("y = self.norm1(x)", "y = x"),
    ("self.dropout(attended)", "self.dropout(self.norm1(attended))"),
    ("self.ffn(self.norm2(x))", "self.norm2(self.ffn(x))"),
)
layer.edit(
    "no-norms",
    "The norms are there but never used.",
    ("y = self.norm1(x)", "y = x"),
    ("self.norm2(x)", "x"),
)
layer.edit(
    "one-norm",
    "norm1 is used twice; each branch has a norm of its own.",
    ("self.norm2(x)", "self.norm1(x)"),
)
layer.edit(
    "second-not-normalized",
    "The feed-forward network reads tokens that are not normalized.",
    ("self.norm2(x)", "x"),
)
layer.edit(
    "norm-at-the-end",
    "A norm stands at the end of the layer; in pre-norm only the whole model has one.",
    ("return x", "return self.norm2(x)"),
)
layer.edit(
    "no-attention-residual",
    "The residual connection around attention is missing.",
    ("x + self.dropout(attended)", "self.dropout(attended)"),
)
layer.edit(
    "no-ffn-residual",
    "The residual connection around the feed-forward network is missing.",
    (
        "x + self.dropout(self.ffn(self.norm2(x)))",
        "self.dropout(self.ffn(self.norm2(x)))",
    ),
)
layer.edit(
    "side-by-side",
    "Both branches read the same tokens; the feed-forward network reads what "
    "attention has added.",
    ("x = x + self.dropout(attended)", "before, x = x, x + self.dropout(attended)"),
    ("self.norm2(x)", "self.norm2(before)"),
)
layer.edit(
    "no-attention-dropout",
    "Dropout on the attention branch is missing.",
    ("self.dropout(attended)", "attended"),
)
layer.edit(
    "no-ffn-dropout",
    "Dropout on the feed-forward branch is missing.",
    ("self.dropout(self.ffn(self.norm2(x)))", "self.ffn(self.norm2(x))"),
)
layer.edit(
    "always-drops",
    "Dropout acts in eval mode too: `F.dropout` has to be told `self.training`, and "
    "`nn.Dropout` belongs in `__init__`.",
    ("dropout = nn.Dropout(dropout)", "p = dropout"),
    ("self.dropout(attended)", "F.dropout(attended, self.p)"),
    (
        "self.dropout(self.ffn(self.norm2(x)))",
        "F.dropout(self.ffn(self.norm2(x)), self.p)",
    ),
)
layer.edit(
    "stream-dropped",
    "Dropout acts on the sum; it belongs on the branches, before they are added.",
    ("x + self.dropout(attended)", "self.dropout(x + attended)"),
    (
        "x + self.dropout(self.ffn(self.norm2(x)))",
        "self.dropout(x + self.ffn(self.norm2(x)))",
    ),
)
layer.edit(
    "upper-triangle",
    "The mask is upside down: each token sees itself and what comes after it, and "
    "nothing before.",
    (".tril()", ".triu()"),
)
layer.edit(
    "mask-in-the-state",
    "The mask is stored among the parameters; `persistent=False` keeps a buffer out of "
    "them.",
    (
        "dropout = nn.Dropout(dropout)\n",
        "dropout = nn.Dropout(dropout)\n"
        "        causal = torch.ones(512, 512, dtype=torch.bool).tril()\n"
        '        self.register_buffer("mask", causal)\n',
    ),
    ("torch.ones(n, n, dtype=torch.bool).tril()", "self.mask[:n, :n]"),
)
layer.edit(
    "fixed-length",
    "The mask has a fixed size, and longer texts fail; make it as large as the text.",
    ("torch.ones(n, n, dtype=torch.bool)", "torch.ones(32, 32, dtype=torch.bool)"),
    (".tril()", ".tril()[:n, :n]"),
    unseen="it takes a long text to show, and the card names no longest one",
)
layer.edit(
    "first-mask",
    "The mask of the first text is kept and used for all; the next text may have "
    "another length.",
    (
        "dropout = nn.Dropout(dropout)\n",
        "dropout = nn.Dropout(dropout)\n        self.mask = None\n",
    ),
    (
        "        mask = torch.ones(n, n, dtype=torch.bool).tril()",
        "        if self.mask is None:\n"
        "            self.mask = torch.ones(n, n, dtype=torch.bool).tril()\n"
        "        mask = self.mask",
    ),
    unseen="it takes two texts of different lengths to show",
)
layer.edit(
    "in-place",
    "`x += …` changes the tokens of the caller; `x = x + …` makes new ones.",
    ("x = x + self.dropout(attended)", "x += self.dropout(attended)"),
)
layer.edit(
    "no-dropout",
    "Dropout is missing on both branches.",
    ("self.dropout(attended)", "attended"),
    ("self.dropout(self.ffn(self.norm2(x)))", "self.ffn(self.norm2(x))"),
)
layer.edit(
    "dropout-before-the-branches",
    "Dropout acts on what enters the branches; it belongs on what they give.",
    ("y = self.norm1(x)", "y = self.dropout(self.norm1(x))"),
    ("self.dropout(attended)", "attended"),
    (
        "self.dropout(self.ffn(self.norm2(x)))",
        "self.ffn(self.dropout(self.norm2(x)))",
    ),
)
layer.edit(
    "weights-too",
    "The layer returns the weights as well; the tokens alone go to the next layer.",
    ("attended, _ =", "attended, weights ="),
    ("return x", "return x, weights"),
)
layer.also(
    "not-itself",
    layer.edited((".tril()", ".tril(-1)\n        mask[0, 0] = True")),
)
layer.also(
    "one-norm", layer.edited(("norm2 = nn.LayerNorm(d_model)", "norm2 = self.norm1"))
)
layer.right(
    "short",
    """
class DecoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout=dropout)
        self.p = dropout

    def forward(self, x):
        def drop(branch):
            return F.dropout(branch, self.p, self.training)

        places = torch.arange(x.shape[-2])
        earlier = places[:, None] >= places
        y = self.norm1(x)
        x = x + drop(self.self_attn(y, y, y, mask=earlier)[0])
        return x + drop(self.ffn(self.norm2(x)))
""",
)
layer.right(
    "two-dropouts",
    """
class DecoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout)

    def attend(self, x):
        n = x.size(1)
        mask = torch.triu(torch.ones(n, n), diagonal=1) == 0
        return self.self_attn(x, x, x, mask[None, None])[0]

    def forward(self, x):
        out = x + self.drop1(self.attend(self.norm1(x)))
        out = out + self.drop2(self.ffn(self.norm2(out)))
        return out
""",
)
layer.right(
    "stored-mask",
    """
class DecoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        mask = torch.ones(1024, 1024).bool().tril()
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x):
        n = x.shape[1]
        y = self.norm1(x)
        x = x + self.dropout(self.self_attn(y, y, y, self.mask[:n, :n])[0])
        return x + self.dropout(self.ffn(self.norm2(x)))
""",
)


@layer.probe
def outcomes_of_layer(answer: Any) -> list:
    """Tell layers apart by parameters, order, mask, lengths of text and dropout."""
    told = behavior(answer, (6, 2, 8), layer_shapes(6, 8), seeded(2, 4, 6))
    lengths = []
    for first, then in ((1, 200), (4, 3)):
        layer = answer(6, 2, 8)
        outcome(layer, seeded(2, first, 6))
        lengths.append(outcome(layer, seeded(2, then, 6))[0])
    return [*told, lengths]


# ---------------------------- what differs in other ways, for those who passed

catalog.differ(
    {
        "next_token_loss-cross-entropy": (
            "Targets of padding become −100, which `cross_entropy` leaves out by "
            "itself."
        ),
        "next_token_loss-log-softmax": (
            "The mask becomes weights of 0 and 1, and the loss a weighted mean."
        ),
        "sample-gumbel": (
            "The largest of the logits plus Gumbel noise is a draw from their softmax."
        ),
        "sample-among-the-kept": (
            "It draws among the kept tokens alone, and looks their ids up at the end."
        ),
        "DecoderLayer-two-dropouts": (
            "Attention has a method of its own, and the mask is the negated upper "
            "triangle."
        ),
        "DecoderLayer-stored-mask": (
            "The mask is made once, for 1,024 tokens, and cut to size at every call."
        ),
    }
)
