"""A model spread over processes, each with a part of every weight: for those too large for one."""

from __future__ import annotations

import warnings

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

from regard.layers.blocks import DecoderBlock, EncoderBlock

__all__ = ["shard"]


def shard(losses: nn.Module, device: torch.device, world: int) -> None:
    """Spread the weights of a model with its loss, in place.

    A block's weights are brought together when the block is run, and forgotten after it; those
    outside blocks when the whole is.
    """
    # a decoder block's keys are views, and nobody changes them in place
    warnings.filterwarnings("ignore", "FSDP2-wrapped module", UserWarning)
    mesh = init_device_mesh(device.type, (world,))
    for block in losses.modules():
        if isinstance(block, (EncoderBlock, DecoderBlock)):
            fully_shard(block, mesh=mesh)
            if isinstance(block, DecoderBlock):
                register_fsdp_forward_method(block, "start")
    fully_shard(losses, mesh=mesh)
