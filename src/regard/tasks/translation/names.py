"""More pairs from those there are: other names in the same sentences, and no full stop at the end.

A place that the data name once, in a list, is never met in a sentence; and what people type often
ends without a full stop, which sentences in files do not. Both are learned from pairs made here.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from regard.tasks.pairs import Pair

__all__ = ["names_in", "swapped", "unstopped"]

MOST_WORDS, MOST_LETTERS = 3, 12  # of a name
LEAST_LETTERS = 2  # of a name in Chinese: one may be a part of any word
RARE = 20  # times as often is a name written large as it is written small
ALIKE = 3  # names that show that a last letter may be left out
STOPS = "。．.！!"  # noqa: RUF001 - those of Chinese, too
WORD = re.compile(r"[^\W\d_][\w'’-]*")  # noqa: RUF001 - the apostrophe that is printed


def names_in(pairs: Iterable[Pair]) -> dict[str, str]:
    """Names and their translations: pairs of a few letters whose target is always capitalised.

    A word that the targets write small more than now and then is no name, so the "File" of a menu
    is none where there are files.

    >>> rows = [("西安", "Xian"), ("文件", "File"), ("打开文件", "open a file")]
    >>> names_in(Pair(*row, line=1) for row in rows)
    {'西安': 'Xian'}
    """
    pairs = list(pairs)
    written = Counter(word for pair in pairs for word in WORD.findall(pair.target))
    large: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for word, times in written.items():
        (large if word[0].isupper() else small)[word.lower()] += times
    found: dict[str, str] = {}
    for pair in pairs:
        words = pair.target.split(" ")
        named = len(words) <= MOST_WORDS and all(
            WORD.fullmatch(w) and w[0].isupper() and RARE * small[w.lower()] <= large[w.lower()]
            for w in words
        )
        letters = pair.source.replace("·", "").replace("-", "")
        if named and LEAST_LETTERS <= len(letters) <= MOST_LETTERS and letters.isalpha():
            found.setdefault(pair.source, pair.target)
    return found | _shortened(found)


def _shortened(names: Mapping[str, str]) -> dict[str, str]:
    """Names without a last letter that says what they name, such as that of a city.

    Which letters those are is learned: with them and without, some names have one translation.
    """
    alike = Counter(name[-1] for name, target in names.items() if names.get(name[:-1]) == target)
    found: dict[str, str] = {}
    for name, target in names.items():
        short = name[:-1]
        if alike[name[-1]] >= ALIKE and len(short) >= LEAST_LETTERS and short not in names:
            found.setdefault(short, target)
    return found


def swapped(
    pairs: Sequence[Pair],
    names: Mapping[str, str],
    copies: int,
    seed: int,
    chosen: Collection[str] | None = None,
) -> list[Pair]:
    """So many copies of each sentence with a name in it, with other names in its place.

    The fewer names are chosen, the more often each is met: all if None.

    >>> names = {"西安": "Xian", "北京": "Beijing"}
    >>> made = swapped([Pair("我在北京。", "I am in Beijing.", 1)], names, 1, seed=0)
    >>> [(pair.source, pair.target) for pair in made]
    [('我在西安。', 'I am in Xian.')]
    """
    known = [name for name in names if chosen is None or name in chosen]
    if not known or len(names) < 2:  # noqa: PLR2004 - one to take out, one to put in
        return []
    starts: dict[str, list[str]] = defaultdict(list)
    for known_name in names:
        starts[known_name[:LEAST_LETTERS]].append(known_name)
    made = []
    for i, pair in enumerate(pairs):
        name = _name_in(pair, names, starts)
        if name is None:
            continue
        drawn = random.Random(f"{seed} {i}")  # noqa: S311 - no secret
        others = drawn.sample(known, min(copies + 1, len(known)))
        for other in [x for x in others if x != name][:copies]:
            source = pair.source.replace(name, other)
            target = names[other].join(_word(names[name]).split(pair.target))
            made.append(Pair(source, target, pair.line))
    return made


def _name_in(
    pair: Pair, names: Mapping[str, str], starts: Mapping[str, Sequence[str]]
) -> str | None:
    """The longest name of the source that is in the target, too; None if there is none."""
    found = None
    for i in range(len(pair.source) - LEAST_LETTERS + 1):
        for name in starts.get(pair.source[i : i + LEAST_LETTERS], ()):
            longer = found is None or len(name) > len(found)
            there = pair.source.startswith(name, i) and len(pair.source) > len(name)
            if longer and there and _word(names[name]).search(pair.target):
                found = name
    return found


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def unstopped(pairs: Sequence[Pair], part: float, seed: int) -> list[Pair]:
    """A part of the pairs whose both sides end in a full stop, without it.

    >>> made = unstopped([Pair("你好。", "Hello.", 1), Pair("谁", "Who", 2)], 1.0, seed=0)
    >>> [(pair.source, pair.target) for pair in made]
    [('你好', 'Hello')]
    """
    drawn = random.Random(f"stops {seed}")  # noqa: S311 - no secret
    made = []
    for pair in pairs:
        chosen = drawn.random() < part
        source, target = pair.source.rstrip(STOPS), pair.target.rstrip(STOPS)
        shorter = source != pair.source and target != pair.target
        if chosen and shorter and source and target:
            made.append(Pair(source, target, pair.line))
    return made
