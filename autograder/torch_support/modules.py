"""Assertions for checks of torch modules: their parameters, by name and shape."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from autograder.checks.failures import CheckFailed
from autograder.checks.fingerprints import note


def parameters(module: Any, shapes: dict[str, tuple[int, ...]]) -> None:
    """Check that a torch module has exactly the parameters that the card names.

    Args:
        shapes: the shape of each parameter by its name in ``state_dict()``. Second
            names of the same parameters are allowed.

    Raises:
        CheckFailed: one is missing or not on the card ("type"), or has another shape
            ("shape").
    """
    found = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    if has_second_names(module, found.keys(), shapes.keys()):
        found = {name: found[name] for name in shapes}
    note(found)
    missing, extra = shapes.keys() - found.keys(), found.keys() - shapes.keys()
    if missing or extra:
        seen = [f"no {name}" for name in sorted(missing)]
        seen += [f"an extra {name}" for name in sorted(extra)]
        wanted = "only the parameters on the card"
        if missing:
            wanted = f"the parameters {shortened([n for n in shapes if n in missing])}"
        raise CheckFailed(f"your module has {shortened(seen)}", wanted, kind="type")
    for name, shape in shapes.items():
        if found[name] != tuple(shape):
            raise CheckFailed(
                f"{name} has shape {found[name]}", f"shape {tuple(shape)}", kind="shape"
            )


def shortened(words: list[str], most: int = 6) -> str:
    """A list in words, without what is too much to read."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def wrong_of(wrong: list[str], total: int) -> str:
    """Which of a module's parameters are wrong, in a sentence."""
    return f"{len(wrong)} of {total} parameters are wrong: {shortened(wrong)}."


def has_second_names(module: Any, found: Set[str], due: Set[str]) -> bool:
    """Whether all that is found beyond what is due are second names of these."""
    if not found > due:
        return False
    every = {name for name, _ in module.named_parameters(remove_duplicate=False)}
    return found - due <= every and len(list(module.named_parameters())) <= len(due)


def load(module: Any, state: dict[str, Any]) -> None:
    """Give a module these parameters; it may have second names for some of them."""
    second = has_second_names(module, module.state_dict().keys(), state.keys())
    module.load_state_dict(state, strict=not second)
