"""Proxies for right and wrong torch modules that a student's own test is tried on.

They are to modules what ``planted`` is to functions. A stand-in has real parameters,
which the test may read, set and train. The forward pass is computed with them by the
process that holds the module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

Ask = Callable[..., Any]


def do(planted: Any, operation: str, *parts: Any) -> Any:
    """Make a module, or run one forwards or backwards, for a ``Planted``."""
    operations: dict[str, Any] = {
        "make": make,
        "forward": forward,
        "backward": backward,
    }
    return operations[operation](planted, *parts)


def make(planted: Any, args: Any, kwargs: Any, random: Any) -> Any:
    """A new module: its number, its parts by name, and the random state after it."""
    torch.set_rng_state(random)
    module = planted.function(*args, **kwargs)
    parts = {
        name: (type(part).__name__, part.in_features, part.out_features)
        for name, part in module.named_modules()
        if type(part) is nn.Linear
    }
    planted.modules.append(module)
    state = {name: value.detach() for name, value in module.named_parameters()}
    return len(planted.modules) - 1, parts, state, torch.get_rng_state()


def forward(planted: Any, number: int, call: dict[str, Any]) -> Any:
    """The output for these parameters, and the random state after it."""
    with torch.no_grad():
        return run(planted, number, call, call["state"]), torch.get_rng_state()


def backward(planted: Any, number: int, call: dict[str, Any], grad: Any) -> Any:
    """Gradients by all tensors of the call, in their order; None where there is none.

    The forward pass is repeated with the same random numbers.
    """
    state = {n: v.detach().requires_grad_() for n, v in call["state"].items()}
    args = [
        value.detach().requires_grad_(value.is_floating_point())
        if isinstance(value, torch.Tensor)
        else value
        for value in call["args"]
    ]
    with torch.enable_grad():
        output = run(planted, number, call | {"args": args}, state)
    leaves = [v for v in (*args, *state.values()) if isinstance(v, torch.Tensor)]
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    if not output.requires_grad:
        return [None] * len(leaves)
    given = torch.autograd.grad(output, wanted, grad, allow_unused=True)
    found = {id(leaf): value for leaf, value in zip(wanted, given, strict=True)}
    return [found.get(id(leaf)) for leaf in leaves]


def run(planted: Any, number: int, call: dict[str, Any], state: Any) -> Any:
    """The planted module's own forward pass."""
    module = planted.modules[number]
    module.train(call["training"])
    torch.set_rng_state(call["random"])
    return torch.func.functional_call(module, state, tuple(call["args"]))


class Bridge(torch.autograd.Function):  # type: ignore[misc]
    """Lets gradients through to where the module is, and back."""

    @staticmethod
    def forward(ctx: Any, ask: Ask, number: int, call: Any, *tensors: Any) -> Any:
        """Ask for the output."""
        ctx.ask, ctx.number, ctx.call = ask, number, call
        output, random = ask("forward", number, call)
        torch.set_rng_state(random)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Ask for the gradients."""
        (grad,) = grads
        found = ctx.ask("backward", ctx.number, ctx.call, grad.contiguous())
        return (None, None, None, *found)


def class_of(name: str, ask: Ask) -> type[nn.Module]:
    """A stand-in for a class of modules."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        nn.Module.__init__(self)
        number, parts, state, random = ask("make", args, kwargs, torch.get_rng_state())
        for path, (_, width_in, width_out) in parts.items():
            bias = f"{path}.bias" in state
            linear = nn.utils.skip_init(nn.Linear, width_in, width_out, bias=bias)
            place(self, path, linear)
        for path, value in state.items():
            if path.rpartition(".")[0] in parts:
                self.get_parameter(path).data = value
            else:
                place(self, path, nn.Parameter(value))
        torch.set_rng_state(random)
        self.__dict__["_number"] = number

    def forward(self: Any, *args: Any) -> Any:
        state = dict(self.named_parameters())
        call = {
            "args": list(args),
            "state": {name: value.detach() for name, value in state.items()},
            "training": self.training,
            "random": torch.get_rng_state(),
        }
        tensors = [v for v in (*args, *state.values()) if isinstance(v, torch.Tensor)]
        return Bridge.apply(ask, self._number, call, *tensors)

    members = {"__init__": __init__, "forward": forward, "__module__": "__main__"}
    return type(name, (nn.Module,), members)


def place(module: nn.Module, path: str, part: Any) -> None:
    """Put a part where its dotted name says, with plain modules on the way."""
    *folders, last = path.split(".")
    for folder in folders:
        if not hasattr(module, folder):
            module.add_module(folder, nn.Module())
        module = getattr(module, folder)
    setattr(module, last, part)
