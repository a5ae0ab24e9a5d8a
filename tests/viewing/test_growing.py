"""Keys that grow are kept once."""

import torch

from regard.viewing.growing import Growing


def held(kept):
    """Bytes of memory behind several tensors."""
    return sum(
        {x.untyped_storage().data_ptr(): x.untyped_storage().nbytes() for x in kept}.values()
    )


def test_steps_of_a_generation_share_their_keys():
    k = torch.randn(2, 3, 200, 4)
    keys = Growing()
    kept = [keys.keep(k[..., :m, :]) for m in range(5, 201)]
    for m, x in zip(range(5, 201), kept, strict=True):
        assert torch.equal(x, k[..., :m, :])
    assert held(kept) <= 4 * k.numel() * 4  # not the 100 times it would be


def test_other_keys_begin_anew_and_leave_the_old_ones():
    k = torch.randn(1, 10, 4)
    keys = Growing()
    first = keys.keep(k)
    other = torch.cat([k[:, :5] + 1, k], 1)
    second = keys.keep(other)
    third = keys.keep(k[:, :3])
    fourth = keys.keep(torch.cat([k[:, :3], k[:, :1]], 1))
    assert torch.equal(first, k)
    assert torch.equal(second, other)
    assert torch.equal(third, k[:, :3])
    assert torch.equal(fourth[:, 3], k[:, 0])
    assert torch.equal(keys.keep(k.double()), k.double())


def test_in_and_out_of_inference_mode():
    k, keys = torch.randn(1, 10, 4), Growing()
    with torch.inference_mode():
        first = keys.keep(k[:, :6])
    second = keys.keep(k[:, :8])
    with torch.inference_mode():
        third = keys.keep(k)
    assert all(torch.equal(x, k[:, : x.shape[1]]) for x in (first, second, third))


def test_what_is_kept_does_not_follow_the_cache():
    cache = torch.randn(1, 10, 4)
    kept, was = Growing().keep(cache[:, :6]), cache[:, :6].clone()
    cache.zero_()
    assert torch.equal(kept, was)
