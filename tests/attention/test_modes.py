import torch
from torch.autograd import forward_ad

from regard.attention.modes import is_plain, is_transformed

X = torch.ones(2)


def test_ordinary_tensors_are_plain():
    assert is_plain(X)
    assert not is_transformed(X)


def test_torch_func_is_noticed():
    seen = []
    torch.func.vmap(lambda x: seen.append(is_transformed(x)) or x)(X)
    torch.func.grad(lambda x: seen.append(is_transformed(x)) or x.sum())(X)
    assert seen == [True, True]


def test_forward_mode_is_noticed_on_the_tensors_it_is_at_work_on():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, X)
        assert is_transformed(X, dual)
        assert not is_transformed(X)


def test_compiling_is_no_time_to_look_at_numbers():
    seen = []

    def f(x):
        if not is_plain(x):
            return x + 1
        return x + 2

    seen = torch.compile(f, backend="eager", fullgraph=True)(X)
    assert seen.tolist() == [2.0, 2.0]
