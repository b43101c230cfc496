import math

import torch
from smollm2 import LAYER as NAMES
from torch import nn
from torch.nn import functional as F


def to_halves(weight, n_heads):
    pairs = weight.reshape(n_heads, -1, 2, weight.shape[-1])
    return pairs.transpose(1, 2).reshape(weight.shape)


def to_pairs(weight, n_heads):
    halves = weight.reshape(n_heads, 2, -1, weight.shape[-1])
    return halves.transpose(1, 2).reshape(weight.shape)


def convert(layer, state, which=("W_q", "W_k"), how=to_halves):
    heads = {"W_q": layer.self_attn.n_heads}
    for name in which:
        key = f"self_attn.{name}.weight"
        state[key] = how(state[key], heads.get(name, layer.self_attn.n_kv))
    return state


def renamed(tensors, index, names=NAMES):
    return {f"{a}.weight": tensors[f"blk.{index}.{b}.weight"] for a, b in names.items()}
