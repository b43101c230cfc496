import copy

import torch
from torch import nn
from torch.nn import functional as F

NAMES = {
    "self_attn.W_q": "attention.self.query",
    "self_attn.W_k": "attention.self.key",
    "self_attn.W_v": "attention.self.value",
    "self_attn.W_o": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "ffn.linear1": "intermediate.dense",
    "ffn.linear2": "output.dense",
    "norm2": "output.LayerNorm",
}


def renamed(tensors, index, names=NAMES, kinds=("weight", "bias")):
    start = f"encoder.layer.{index}."
    return {
        f"{ours}.{kind}": tensors[f"{start}{theirs}.{kind}"]
        for ours, theirs in names.items()
        for kind in kinds
    }
