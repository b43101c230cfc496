"""Proxies for right and wrong torch modules that a student's own test is tried on.

They are to modules what ``checks.planted`` is to functions. A stand-in has real
parameters, which the test may read, set and train. Its output, and gradients by what
goes in, are computed with them by the process that holds the module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.checks.planted import Planted, attempt

Ask = Callable[..., Any]


def do(planted: Planted, operation: str, *parts: Any) -> Any:
    """Make a module, or run one."""
    operations: dict[str, Callable[..., Any]] = {"make": make, "run": run}
    return operations[operation](planted, *parts)


def make(planted: Planted, args: Any, kwargs: Any, random: Any) -> Any:
    """A new module: its number, its parts by name, and the random state after it."""
    torch.set_rng_state(random)
    module = planted.function(*args, **kwargs)
    parts = {
        name: (part.in_features, part.out_features)
        for name, part in module.named_modules()
        if type(part) is nn.Linear
    }
    planted.modules.append(module)
    state = {name: value.detach() for name, value in module.named_parameters()}
    return len(planted.modules) - 1, parts, state, torch.get_rng_state()


def run(planted: Planted, call: dict[str, Any], grad: Any = None) -> Any:
    """The output and the random state after it; or, with the gradient by the output,
    those by the tensors of the call in their order, None where there is none.

    For gradients the forward pass is repeated with the same random numbers.
    """
    module = planted.modules[call["number"]]
    module.train(call["training"])
    torch.set_rng_state(call["random"])
    values = [
        value.detach().requires_grad_(grad is not None and value.is_floating_point())
        if isinstance(value, torch.Tensor)
        else value
        for value in [*call["args"], *call["state"].values()]
    ]
    count = len(call["args"])
    state = dict(zip(call["state"], values[count:], strict=True))
    with torch.set_grad_enabled(grad is not None):
        output = torch.func.functional_call(module, state, tuple(values[:count]))
    if grad is None:
        return output, torch.get_rng_state()
    leaves = [value for value in values if isinstance(value, torch.Tensor)]
    if not output.requires_grad:
        return [None] * len(leaves)
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    found = iter(torch.autograd.grad(output, wanted, grad, allow_unused=True))
    return [next(found) if leaf.requires_grad else None for leaf in leaves]


class Bridge(torch.autograd.Function):  # type: ignore[misc]
    """Lets gradients through to where the module is, and back."""

    @staticmethod
    def forward(ctx: Any, ask: Ask, call: Any, *_: torch.Tensor) -> Any:
        """Ask for the output."""
        ctx.ask, ctx.call = ask, call
        output, random = ask("run", call)
        torch.set_rng_state(random)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Ask for the gradients."""
        return None, None, *ctx.ask("run", ctx.call, grads[0].contiguous())


def class_of(name: str, ask: Ask) -> type[nn.Module]:
    """A stand-in for a class of modules."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        nn.Module.__init__(self)
        number, parts, state, random = ask("make", args, kwargs, torch.get_rng_state())
        for path, sizes in parts.items():
            bias = f"{path}.bias" in state
            place(self, path, nn.utils.skip_init(nn.Linear, *sizes, bias=bias))
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
            "number": self._number,
            "args": list(args),
            "state": {name: value.detach() for name, value in state.items()},
            "training": self.training,
            "random": torch.get_rng_state(),
        }
        tensors = [v for v in (*args, *state.values()) if isinstance(v, torch.Tensor)]
        return Bridge.apply(ask, call, *tensors)

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


def warm() -> None:
    """Load now what torch loads when it is first used: not again in every fork."""

    def check(network: Any) -> None:
        network(2)(torch.zeros(1, 2)).sum().backward()

    attempt(check, "Network", Planted(lambda n: nn.Sequential(nn.Linear(n, n))).do)
