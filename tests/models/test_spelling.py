import pytest
import torch

from regard import ValueRangeError
from regard.models.spelling import Affixes, Spelling


def spelled(*words, length=0):
    """Characters by their letters, a = 2."""
    length = max([length, *map(len, words)])
    rows = [[ord(c) - 95 for c in word] + [0] * (length - len(word)) for word in words]
    return torch.tensor(rows).view(1, len(words), length)


def spelling(**options):
    torch.manual_seed(0)
    net = Spelling(**{"characters": 40, "embedding": 5, "width": 11, **options}).double()
    for p in net.parameters():
        p.data = torch.randn_like(p)
    return net


def test_padding_of_words_changes_nothing():
    net = spelling()
    short = net(spelled("ab", "cde"))
    assert torch.equal(net(spelled("ab", "cde", length=9)), short)
    assert short.shape == (1, 2, 11)
    assert (short > 0).any()


def test_a_filter_answers_to_its_span_wherever_it_stands():
    net = spelling(spans=(2,))
    word = spelled("abcde")
    x = net.embedding(word)[0, 0]
    nobody = torch.zeros(1, 5).double()
    x = torch.cat((nobody, x, nobody))  # before the word, and behind it
    answers = torch.stack([net.filters[0](x[i : i + 2].flatten()) for i in range(6)]).relu()
    torch.testing.assert_close(net(word)[0, 0], answers.amax(0))


def test_order_and_ends_of_a_word_are_seen():
    net = spelling()
    a, b, c, d = net(spelled("abc", "cba", "abcc", "aabc"))[0]
    for x, y in ((a, b), (a, c), (a, d)):
        assert not torch.equal(x, y)


def test_a_word_of_padding_says_nothing():
    net = spelling()
    words = torch.zeros(2, 3, 4).long()
    words[0, 0, 0] = 5
    out = net(words)
    assert (out[0, 1:] == 0).all()
    assert (out[1] == 0).all()
    assert (out[0, 0] != 0).any()
    assert (net(torch.zeros(2, 3, 0).long()) == 0).all()
    assert net(torch.zeros(2, 0, 4).long()).shape == (2, 0, 11)


def test_gradients_reach_every_character_of_a_word_and_no_padding():
    net = spelling()
    net(spelled("ab", length=6)).sum().backward()
    grads = net.embedding.weight.grad.abs().sum(-1)
    assert grads.nonzero().flatten().tolist() == [2, 3]


def test_pieces_are_first_and_last_characters():
    affixes = Affixes(buckets=1 << 20, width=3, longest=3)
    (one, two, three, four, five) = affixes.pieces(
        spelled("walking", "walked", "talking", "wa", "aw")
    )[0]
    assert (one[:3] == two[:3]).all()  # w, wa, wal
    assert (one[3:] != two[3:]).all()
    assert (one[3:] == three[3:]).all()  # g, gn, gni
    assert (one[:3] != three[:3]).all()
    assert (one[:2] == four[:2]).all()
    assert four[1] == four[2]  # a piece longer than the word is the word
    assert not set(four.tolist()) & set(five.tolist())  # an end is no beginning
    assert len(set(one.tolist())) == 6


def test_pieces_stay_inside_the_table_and_are_spread_over_it():
    torch.manual_seed(0)
    affixes = Affixes(buckets=100, width=3)
    found = affixes.pieces(torch.randint(1, 50_000, (1, 4000, 9)))
    assert found.min() >= 0
    counts = torch.bincount(found.flatten(), minlength=100)
    assert len(counts) == 100
    assert counts.min() > 200  # 320 on average
    assert counts.max() < 450


def test_affixes_of_padding_and_of_nothing():
    affixes = Affixes(buckets=10, width=3)
    assert affixes(torch.zeros(1, 2, 0).long()).shape == (1, 2, 3)
    words = spelled("ab")
    padded = spelled("ab", length=8)
    assert torch.equal(affixes(words), affixes(padded))


def test_sizes_are_checked():
    with pytest.raises(ValueRangeError, match=r"^Spelling: width must be at least 1, got 0$"):
        Spelling(10, 4, 0)
    with pytest.raises(ValueRangeError, match=r"^Affixes: buckets must be at least 1, got 0$"):
        Affixes(0, 4)
