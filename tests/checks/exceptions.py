"""Exceptions that answers raise, and what is said beside the line that raised them.

Written down before there were rules: code, a call of it, the arrays in the line, and
the likely reason. An empty reason: nobody could be sure of one.
"""

from typing import NamedTuple


class Raised(NamedTuple):
    """One answer, ``answer``, that raises; ``args`` is a text, for both sides."""

    name: str
    code: str
    args: str
    inside: str
    likely: str


def lines(*body: str, of: str = "x") -> str:
    """A function of that body."""
    return f"def answer({of}):\n" + "".join(f"    {line}\n" for line in body)


CUBES = "np.ones((2, 3, 4)), np.ones((2, 5, 4))"
TENSORS = "torch.ones(2, 3, 4), torch.ones(2, 5, 4)"
CUBE, TENSOR = "np.ones((2, 3, 4))", "torch.ones(2, 3, 4)"
OF_TWO = "Q (2, 3, 4), K (2, 5, 4)"
HEAD = """class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.W_q = nn.Linear(8, 8)

    def forward(self, x):
        {}

def answer(x):
    return Head()(x)
"""
MIXED = "Q array (2, 3, 4), K tensor (2, 5, 4)"

RAISED = [
    # ------------------------------------------------------------ matrix products
    Raised(
        "all-axes-turned",
        lines("return Q @ K.T", of="Q, K"),
        CUBES,
        OF_TWO,
        "`K.T` reverses all axes, so (2, 5, 4) becomes (4, 5, 2); swap only the last "
        "two",
    ),
    Raised(
        "all-axes-of-a-tensor",
        lines("scores = Q @ K.T / 2", "return scores", of="Q, K"),
        TENSORS,
        OF_TWO,
        "`K.T` reverses all axes, so (2, 5, 4) becomes (4, 5, 2); swap only the last "
        "two",
    ),
    Raised(
        "transpose-without-axes",
        lines("return np.matmul(Q, np.transpose(K))", of="Q, K"),
        CUBES,
        OF_TWO,
        "`np.transpose(K)` reverses all axes, so (2, 5, 4) becomes (4, 5, 2); swap "
        "only the last two",
    ),
    Raised(
        "t-of-a-batch",
        lines("return Q @ K.t()", of="Q, K"),
        TENSORS,
        OF_TWO,
        "`t()` is for matrices; with more axes, say which two to swap",
    ),
    Raised(
        "inner-sizes",
        lines("return Q @ K", of="Q, K"),
        CUBES,
        OF_TWO,
        "`Q @ K` pairs the last axis of `Q` with the last but one of `K`, but 4 is "
        "not 5",
    ),
    Raised(
        "inner-sizes-of-dot",
        lines("return np.dot(Q, K)", of="Q, K"),
        "np.ones((3, 4)), np.ones((5, 4))",
        "Q (3, 4), K (5, 4)",
        "`np.dot(Q, K)` pairs the last axis of `Q` with the last but one of `K`, but "
        "4 is not 5",
    ),
    Raised(
        "inner-sizes-of-matrices",
        lines("return Q.matmul(K)", of="Q, K"),
        "torch.ones(3, 4), torch.ones(5, 4)",
        "Q (3, 4), K (5, 4)",
        "`Q.matmul(K)` pairs the last axis of `Q` with the last but one of `K`, but 4 "
        "is not 5",
    ),
    Raised(
        "inner-sizes-of-tensors",
        lines("return torch.matmul(Q, K)", of="Q, K"),
        TENSORS,
        OF_TWO,
        "`torch.matmul(Q, K)` pairs the last axis of `Q` with the last but one of "
        "`K`, but 4 is not 5",
    ),
    Raised(
        "batches-of-a-product",
        lines("return Q @ W", of="Q, W"),
        "np.ones((2, 3, 4)), np.ones((3, 4, 5))",
        "Q (2, 3, 4), W (3, 4, 5)",
        "`Q @ W` matches up the axes before the last two, but 2 does not fit 3",
    ),
    Raised(
        "batches-of-tensors",
        lines("return Q @ W", of="Q, W"),
        "torch.ones(2, 3, 4), torch.ones(3, 4, 5)",
        "Q (2, 3, 4), W (3, 4, 5)",
        "`Q @ W` matches up the axes before the last two, but 2 does not fit 3",
    ),
    Raised(
        "wrong-width-of-a-layer",
        HEAD.format("return self.W_q(x)"),
        TENSOR,
        "self.W_q Linear(8, 8), x (2, 3, 4)",
        "`self.W_q` takes vectors of 8 numbers, but here they have 4",
    ),
    # --------------------------------------------------------------- broadcasting
    Raised(
        "keepdims-forgotten",
        lines("return x / x.sum(axis=-1)"),
        CUBE,
        "x (2, 3, 4)",
        "`x.sum(axis=-1)` loses the axis that it works along; with that axis "
        "kept at size 1, the shapes would line up",
    ),
    Raised(
        "keepdims-forgotten-of-a-function",
        lines("return np.exp(x - np.max(x, axis=-1))"),
        CUBE,
        "x (2, 3, 4)",
        "`np.max(x, axis=-1)` loses the axis that it works along; with that "
        "axis kept at size 1, the shapes would line up",
    ),
    Raised(
        "keepdims-forgotten-before",
        lines("m = x.max(axis=-1)", "return x - m"),
        CUBE,
        "x (2, 3, 4), m (2, 3)",
        "`m` (2, 3) is like `x` (2, 3, 4) without its last axis; a sum, mean or "
        "maximum can keep that axis with size 1",
    ),
    Raised(
        "keepdim-forgotten",
        lines("total = x.sum(-1)", "return x / total"),
        TENSOR,
        "x (2, 3, 4), total (2, 3)",
        "`total` (2, 3) is like `x` (2, 3, 4) without its last axis; a sum, mean or "
        "maximum can keep that axis with size 1",
    ),
    Raised(
        "an-argument-lacks-the-last-axis",
        lines("return weights * V", of="weights, V"),
        "np.ones(3), np.ones((3, 2))",
        "weights (3,), V (3, 2)",
        "`weights` (3,) lacks the last axis of `V` (3, 2); it needs one of size 1 at "
        "its end",
    ),
    Raised(
        "a-mask-lacks-an-axis",
        lines("return scores + mask", of="scores, mask"),
        "np.ones((2, 3, 4)), np.ones((2, 4), bool)",
        "scores (2, 3, 4), mask (2, 4)",
        "`mask` (2, 4) lacks an axis of `scores` (2, 3, 4); it needs one of size 1 in "
        "that place",
    ),
    Raised(
        "sizes-that-differ",
        lines("return scores + bias", of="scores, bias"),
        "np.ones((2, 3, 4)), np.ones((5, 5))",
        "scores (2, 3, 4), bias (5, 5)",
        "shapes line up from the last axis on; sizes that meet must be equal, or one "
        "of them 1; here 4 meets 5",
    ),
    Raised(
        "sizes-of-tensors-that-differ",
        lines("return scores.masked_fill(~mask, -1e9)", of="scores, mask"),
        "torch.ones(2, 3, 4), torch.ones(5, 5) > 0",
        "scores (2, 3, 4), mask (5, 5)",
        "shapes line up from the last axis on; sizes that meet must be equal, or one "
        "of them 1; here 5 meets 4",
    ),
    Raised(
        "where-with-another-shape",
        lines("return np.where(mask, scores, -np.inf)", of="scores, mask"),
        "np.ones((2, 3, 4)), np.ones((5, 5), bool)",
        "mask (5, 5), scores (2, 3, 4)",
        "shapes line up from the last axis on; sizes that meet must be equal, or one "
        "of them 1; here 5 meets 4",
    ),
    Raised(
        "boolean-index",
        lines("x = x.copy()", "x[~mask] = 0", "return x", of="x, mask"),
        "np.ones((2, 4)), np.ones((3, 3), bool)",
        "x (2, 4), mask (3, 3)",
        "a boolean index needs an entry for each position on the axis; here it has 3 "
        "entries for 2 positions",
    ),
    Raised(
        "boolean-index-of-a-tensor",
        lines("return x[keep]", of="x, keep"),
        "torch.ones(2, 4), torch.ones(3, 3) > 0",
        "x (2, 4), keep (3, 3)",
        "a boolean index needs an entry for each position on the axis; here it has 3 "
        "entries for 2 positions",
    ),
    # ----------------------------------------------------------- lists and tuples
    Raised(
        "list-has-no-shape",
        lines("return lengths.shape[0]", of="lengths"),
        "[1, 2]",
        "",
        "`lengths` is a list; make it an array first",
    ),
    Raised(
        "list-and-a-number",
        lines("return lengths / 2.0", of="lengths"),
        "[1, 2]",
        "",
        "`lengths` is a list; make it an array first",
    ),
    Raised(
        "list-with-two-indices",
        lines("return np.arange(3) < lengths[:, None]", of="lengths"),
        "[1, 2]",
        "",
        "`lengths` is a list; make it an array first",
    ),
    Raised(
        "list-for-torch",
        lines("return torch.exp(x)"),
        "[1.0, 2.0]",
        "",
        "`x` is a list; make it a tensor first",
    ),
    Raised(
        "pair-not-taken-apart",
        lines("result = (x, x)", "return result.shape"),
        CUBE,
        "",
        "`result` is a tuple of 2; take out the part that you need",
    ),
    Raised(
        "max-of-torch-is-a-pair",
        lines("return x - x.max(-1, keepdim=True)"),
        TENSOR,
        "x (2, 3, 4)",
        "torch's `max` along an axis gives two results, the values and their positions",
    ),
    Raised(
        "axes-unpacked",
        lines("n, d = Q.shape", "return n", of="Q"),
        CUBE,
        "Q (2, 3, 4)",
        "`Q` has 3 axes here, but there are 2 names for them",
    ),
    # ----------------------------------------------------------------------- None
    Raised(
        "mask-left-out",
        lines("return scores + mask", of="scores, mask=None"),
        CUBE,
        "scores (2, 3, 4)",
        "`mask` is None when the call leaves it out; handle that case separately",
    ),
    Raised(
        "mask-left-out-turned",
        lines("return scores.masked_fill(~mask, 0)", of="scores, mask=None"),
        TENSOR,
        "scores (2, 3, 4)",
        "`mask` is None when the call leaves it out; handle that case separately",
    ),
    Raised(
        "helper-without-return",
        "def helper(x):\n    x + 1\n\n" + lines("y = helper(x)", "return y.shape"),
        CUBE,
        "",
        "`y` is None; perhaps the function that made it has no `return`",
    ),
    Raised(
        "helper-without-return-at-once",
        "def helper(x):\n    x + 1\n\n" + lines("return helper(x).shape"),
        CUBE,
        "x (2, 3, 4)",
        "`helper(x)` gave None; perhaps it has no `return`",
    ),
    Raised(
        "helper-without-return-and-a-mask",
        "def helper(x, mask):\n    x + 1\n\n"
        + lines("return helper(x, mask).shape", of="x, mask=None"),
        CUBE,
        "x (2, 3, 4)",
        "`helper(x, mask)` gave None; perhaps it has no `return`",
    ),
    Raised(
        "keepdims-forgotten-deeper-and-harmless",
        lines("return (x - x.max(axis=-1)) / y", of="x, y"),
        "np.ones((3, 3)), np.ones((2, 3))",
        "x (3, 3), y (2, 3)",
        "shapes line up from the last axis on; sizes that meet must be equal, or one "
        "of them 1; here 3 meets 2",
    ),
    # ------------------------------------------------------------- NumPy and torch
    Raised(
        "array-and-tensor",
        lines("return Q @ K", of="Q, K"),
        "np.ones((2, 3, 4)), torch.ones(2, 5, 4)",
        MIXED,
        "`Q` is a NumPy array and `K` a tensor; convert one of them",
    ),
    Raised(
        "array-for-torch",
        lines("return F.softmax(x, dim=-1)"),
        CUBE,
        "x (2, 3, 4)",
        "`softmax` is torch's, but `x` is a NumPy array",
    ),
    Raised(
        "array-for-a-layer",
        HEAD.format("return self.W_q(x)"),
        "np.ones((2, 8))",
        "self.W_q Linear(8, 8), x (2, 8)",
        "`x` is a NumPy array; it should be a tensor",
    ),
    Raised(
        "tensor-for-numpy",
        lines("return np.max(x, axis=-1, keepdims=True)"),
        TENSOR,
        "x (2, 3, 4)",
        "`np.max` is NumPy's, but `x` is a tensor",
    ),
    Raised(
        "tensor-with-gradient-for-numpy",
        lines("return np.exp(x)"),
        "torch.ones(2, 3, requires_grad=True)",
        "x (2, 3)",
        "`np.exp` is NumPy's, but `x` is a tensor",
    ),
    Raised(
        "method-of-arrays",
        lines("return x.astype(float)"),
        TENSOR,
        "x (2, 3, 4)",
        "`astype` is NumPy's, but `x` is a tensor",
    ),
    Raised(
        "dim-for-numpy",
        lines("return x.sum(dim=-1)"),
        CUBE,
        "x (2, 3, 4)",
        "NumPy says `axis` and `keepdims`; torch says `dim` and `keepdim`",
    ),
    # ---------------------------------------------------------------------- dtypes
    Raised(
        "softmax-of-integers",
        lines("return F.softmax(x, dim=-1)"),
        "torch.arange(3)",
        "x (3,) int64",
        "`x` holds integers; it should hold floating-point numbers",
    ),
    Raised(
        "mean-of-integers",
        lines("return x.mean()"),
        "torch.arange(3)",
        "x (3,) int64",
        "`x` holds integers; it should hold floating-point numbers",
    ),
    Raised(
        "product-of-two-dtypes",
        lines("return a @ b", of="a, b"),
        "torch.ones(2, 2), torch.arange(2)",
        "a (2, 2) float32, b (2,) int64",
        "`a` is float32 and `b` int64; a product needs one dtype for both",
    ),
    Raised(
        "integers-changed-in-place",
        lines("y = x.copy()", "y -= 0.5", "return y"),
        "np.arange(3)",
        "y (3,) int64",
        "`y` holds integers, which have no fractions; make it floating-point first",
    ),
    Raised(
        "infinity-among-integers",
        lines("return x.masked_fill(x > 1, float('-inf'))"),
        "torch.arange(3)",
        "x (3,) int64",
        "`x` holds integers, which cannot be infinity or NaN",
    ),
    Raised(
        "float-for-a-size",
        lines("return np.zeros((d / 2, 3))", of="d"),
        "4",
        "",
        "`/` gives a float even without a remainder; use `//` for a size or a position",
    ),
    Raised(
        "float-for-a-range",
        lines("half = d / 2", "return [i for i in range(half)]", of="d"),
        "4",
        "",
        "`half` is a float, perhaps from `/`; a size or a position has to be an "
        "integer",
    ),
    Raised(
        "minus-of-a-mask",
        lines("return 1 - mask", of="mask"),
        "torch.ones(2) > 0",
        "mask (2,) bool",
        "`-` does not negate booleans; `~` does",
    ),
    Raised(
        "mask-of-numbers",
        lines("return scores.masked_fill(mask, 0)", of="scores, mask"),
        "torch.ones(3, 3), torch.ones(3, 3)",
        "scores (3, 3) float32, mask (3, 3) float32",
        "`mask` holds numbers; a mask should be boolean",
    ),
    Raised(
        "ids-of-floats",
        lines("return nn.Embedding(4, 3)(tokens)", of="tokens"),
        "torch.ones(2)",
        "tokens (2,) float32",
        "`tokens` is float32; ids should be integers",
    ),
    # ------------------------------------------------------------ axes and indices
    Raised(
        "axis-out-of-range",
        lines("return x.sum(axis=3)"),
        CUBE,
        "x (2, 3, 4)",
        "axes count from 0: the last of 3 is 2, or -1",
    ),
    Raised(
        "dim-out-of-range",
        lines("return F.softmax(x, dim=3)"),
        TENSOR,
        "x (2, 3, 4)",
        "axes count from 0: the last of 3 is 2, or -1",
    ),
    Raised(
        "transpose-of-two-axes",
        lines("return x.transpose(1, 2)"),
        CUBE,
        "x (2, 3, 4)",
        "NumPy's `transpose` takes all axes, and `x` has 3; use `swapaxes` to swap two",
    ),
    Raised(
        "one-too-far",
        lines("return x[:, 3]"),
        CUBE,
        "x (2, 3, 4)",
        "positions count from 0: the last of 3 is 2",
    ),
    Raised(
        "far-too-far",
        lines("return x[:, 9]"),
        CUBE,
        "x (2, 3, 4)",
        "",
    ),
    Raised(
        "id-out-of-the-embedding",
        lines("return embedding(tokens)", of="tokens, embedding=nn.Embedding(4, 3)"),
        "torch.tensor([4])",
        "tokens (1,)",
        "some id is not below the embedding's number of rows",
    ),
    # ----------------------------------------------------- shapes that do not fit
    Raised(
        "view-after-transpose",
        lines("return x.transpose(1, 2).view(2, 12)"),
        TENSOR,
        "x (2, 3, 4)",
        "after transposing, the numbers are no longer in the order that `view` needs; "
        "`reshape` copies where it must",
    ),
    Raised(
        "reshape-to-another-size",
        lines("return x.reshape(2, 5)"),
        CUBE,
        "x (2, 3, 4)",
        "the new shape has 10 places for 24 numbers",
    ),
    Raised(
        "view-to-another-size",
        lines("return x.view(2, 5)"),
        TENSOR,
        "x (2, 3, 4)",
        "the new shape has 10 places for 24 numbers",
    ),
    Raised(
        "reshape-that-does-not-divide",
        lines("return x.reshape(5, -1)"),
        CUBE,
        "x (2, 3, 4)",
        "24 numbers are not divisible by 5",
    ),
    Raised(
        "shape-not-in-a-tuple",
        lines("return np.zeros(n, 4)", of="n"),
        "3",
        "",
        "pass a shape as one tuple, in its own parentheses",
    ),
    Raised(
        "arrays-not-in-a-list",
        lines("return np.concatenate(a, b)", of="a, b"),
        CUBES,
        "a (2, 3, 4), b (2, 5, 4)",
        "`np.concatenate` takes the arrays as one list or tuple",
    ),
    Raised(
        "joined-sizes",
        lines("return np.concatenate([a, b], axis=0)", of="a, b"),
        CUBES,
        "a (2, 3, 4), b (2, 5, 4)",
        "all sizes except that of the joined axis must be equal, but 3 is not 5",
    ),
    # ------------------------------------------------------------ torch's modules
    Raised(
        "leaf-changed-in-place",
        lines("layer.weight += 1", "return layer", of="layer=nn.Linear(2, 2)"),
        "",
        "layer.weight (2, 2)",
        "a parameter may not change in place while torch records gradients; use "
        "`torch.no_grad()`",
    ),
    Raised(
        "super-forgotten",
        "class Head(nn.Module):\n    def __init__(self):\n"
        "        self.W_q = nn.Linear(8, 8)\n\n" + lines("return Head()"),
        TENSOR,
        "",
        "a torch module's `__init__` begins with `super().__init__()`",
    ),
    Raised(
        "self-forgotten",
        HEAD.format("return W_q(x)"),
        TENSOR,
        "",
        "there is `self.W_q`; was `self.` left out?",
    ),
    # --------------------------------------------------------------------- Python
    Raised(
        "array-called",
        lines("weights = x / 2", "return weights(0)"),
        CUBE,
        "weights (2, 3, 4)",
        "`weights` is an array, not a function; use square brackets to index it",
    ),
    Raised(
        "shape-called",
        lines("return x.shape(0)"),
        CUBE,
        "x (2, 3, 4)",
        "`x.shape` is a tuple, not a function; use square brackets to index it",
    ),
    Raised(
        "function-hidden",
        lines("sum = x.sum()", "return sum(x)"),
        CUBE,
        "x (2, 3, 4)",
        "`sum` is a name of your own here, which hides Python's function",
    ),
    Raised(
        "array-as-a-condition",
        lines("if x > 0:", "    return x", "return -x"),
        CUBE,
        "x (2, 3, 4)",
        "an array is not True or False as a whole; choose entry by entry, or use "
        "`.all()` or `.any()`",
    ),
    Raised(
        "tensor-as-a-condition",
        lines("return x if x > 0 else -x"),
        TENSOR,
        "x (2, 3, 4)",
        "an array is not True or False as a whole; choose entry by entry, or use "
        "`.all()` or `.any()`",
    ),
    Raised(
        "math-of-an-array",
        lines("import math", "return math.exp(x)"),
        CUBE,
        "x (2, 3, 4)",
        "`math.exp` takes one number, but `x` is an array",
    ),
    Raised(
        "calls-itself",
        "def softmax(x):\n    return softmax(x)\n\n" + lines("return softmax(x)"),
        CUBE,
        "x (2, 3, 4)",
        "`softmax` calls itself without end",
    ),
    Raised(
        "assigned-later",
        lines("if len(x) > 9:", "    total = 0", "return total + 1"),
        CUBE,
        "",
        "not every path through the function gives `total` a value before this line",
    ),
    Raised(
        "of-its-own",
        lines("if True:", '    raise ValueError("axes don\'t match array")'),
        CUBE,
        "",
        "",
    ),
    Raised(
        "python-s-maximum",
        lines("return np.exp(x - max(x))"),
        CUBE,
        "x (2, 3, 4)",
        "Python's `max` compares whole rows of `x`, not numbers; arrays have their "
        "own `max`",
    ),
    Raised(
        "python-s-order",
        lines("return sorted(*x)"),
        "np.ones((1, 2, 3))",
        "x (1, 2, 3)",
        "Python's `sorted` compares whole rows of `x`, not numbers; arrays have their "
        "own `sort`",
    ),
    Raised(
        "negative-powers",
        lines("return 10000 ** -np.arange(x)"),
        "3",
        "",
        "NumPy's integers have no negative powers; make the base floating-point",
    ),
    Raised(
        "a-roof-for-a-power",
        lines("return 10000 ^ x"),
        CUBE,
        "x (2, 3, 4)",
        "`^` is not a power in Python; use `**`",
    ),
    Raised(
        "a-roof-between-numbers",
        lines("return 10000 ^ (1 / x)"),
        "4",
        "",
        "`^` is not a power in Python; use `**`",
    ),
    Raised(
        "size-without-parentheses",
        lines("batch, n, d = x.size", "return d"),
        TENSOR,
        "x (2, 3, 4)",
        "`x.size` is a function; call it with parentheses",
    ),
    Raised(
        "size-in-brackets",
        lines("return x.size[0]"),
        TENSOR,
        "x (2, 3, 4)",
        "`x.size` is a function; call it with parentheses",
    ),
    Raised(
        "a-function-in-a-sum",
        lines("return x.size() + len"),
        TENSOR,
        "x (2, 3, 4)",
        "",
    ),
    Raised(
        "label-of-pyplot",
        "import matplotlib.pyplot as plt\n\n"
        + lines("fig, ax = plt.subplots()", "ax.xlabel('key')"),
        CUBE,
        "",
        "`xlabel` is pyplot's; an Axes has `set_xlabel`",
    ),
    Raised(
        "layer-in-a-product",
        HEAD.format("return x @ self.W_q"),
        "torch.ones(2, 3, 8)",
        "x (2, 3, 8), self.W_q Linear(8, 8)",
        "`self.W_q` is a layer; call it with its input",
    ),
    Raised(
        "layer-as-an-argument",
        HEAD.format("return torch.matmul(x, self.W_q)"),
        "torch.ones(2, 3, 8)",
        "x (2, 3, 8), self.W_q Linear(8, 8)",
        "`self.W_q` is a layer; call it with its input",
    ),
    Raised(
        "transpose-of-all-axes",
        lines(
            "d = x.shape[-1]",
            "return x.reshape(-1, 3, 2, d // 2).transpose(0, 2, 1, 3)",
        ),
        TENSOR,
        "x (2, 3, 4)",
        "torch's `transpose` swaps two axes; `permute` takes all of them",
    ),
    Raised(
        "inner-pairs-last-axes",
        lines("return np.inner(Q, K)", of="Q, K"),
        "np.ones((2, 3)), np.ones((5, 4))",
        "Q (2, 3), K (5, 4)",
        "`np.inner(Q, K)` pairs the last axis of `Q` with the last of `K`, but 3 is "
        "not 4",
    ),
    Raised(
        "a-vector-has-one-axis",
        lines("return Q @ k", of="Q, k"),
        "np.ones((2, 3)), np.ones(4)",
        "Q (2, 3), k (4,)",
        "`Q @ k` pairs the last axis of `Q` with the last of `k`, but 3 is not 4",
    ),
    Raised(
        "a-sum-that-would-not-fit-either",
        lines("return Q.sum(axis=-1) / K", of="Q, K"),
        "np.ones((2, 4)), np.ones((3, 5))",
        "Q (2, 4), K (3, 5)",
        "shapes line up from the last axis on; sizes that meet must be equal, or one "
        "of them 1; here 2 meets 5",
    ),
    Raised(
        "a-word-as-a-position",
        lines("scale = 0.5", "return scale * x['a']"),
        CUBE,
        "x (2, 3, 4)",
        "",
    ),
    Raised("a-key", lines("return {'a': x}['b']"), CUBE, "x (2, 3, 4)", ""),
]
