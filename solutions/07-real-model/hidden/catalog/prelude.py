import copy

import torch
from minilm import LAYER as NAMES
from torch import nn
from torch.nn import functional as F


def renamed(tensors, index, names=NAMES, kinds=("weight", "bias")):
    start = f"encoder.layer.{index}."
    return {
        f"{ours}.{kind}": tensors[f"{start}{theirs}.{kind}"]
        for ours, theirs in names.items()
        for kind in kinds
    }
