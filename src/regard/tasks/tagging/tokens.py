"""English text as sentences of words, cut as the English Web Treebank cuts them.

The treebank's habits, learned from its training words: punctuation stands apart, runs of it stay
together (``!!!``, ``...``), "don't" is "do n't", "cannot" is "can not", compounds are cut at their
hyphens ("well - known") unless a prefix begins them ("e-mail", "non-stop"), "$5" is "$ 5", "25%" is
"25 %", "5pm" is "5 pm"; addresses, dates, times and telephone numbers stay whole.
"""

# ruff: noqa: RUF001 - the quotation marks of other keyboards are meant

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

__all__ = ["split_sentences", "split_words"]

LINES = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
APOSTROPHES = frozenset("’‘`´ʼ")
JOINER = "\u200d"
SKINS = range(0x1F3FB, 0x1F400)  # colours of the emoji before them

PREFIXES = (
    "anti|arch|co|counter|cross|e|ex|intra|mega|mid|multi|neo|non|over|post|pre|pro|pseudo|psycho|"
    "re|semi|sub|super|ultra|un|under"
)
UNITS = (
    r"am|pm|a\.m\.|p\.m\.|b|bn|c|cm|f|ft|gb|ghz|hr|hrs|hz|k|kg|km|kw|kwh|lb|lbs|m|mb|mg|mhz|min|"
    r"mins|ml|mm|mph|mw|mwh|oz|ozs|sec|secs|tb|x|yr|yrs"
)
SITES = r"com|org|net|edu|gov|mil|info|biz|io|tv|eu|co\.[a-z]{2}"
FILES = "docx?|xlsx?|pptx?|pdf|txt|csv|html?|jpe?g|png|gif|mp3|mp4|zip|exe|url|json|py|js"
SHORT = (
    "Mr|Mrs|Ms|Dr|Prof|Rev|Gen|Col|Lt|Sgt|Capt|Maj|Cpl|Sen|Rep|Reps|Gov|Pres|Hon|St|Ft|Mt|Jr|Sr|"
    "Inc|Ltd|Corp|Co|Bros|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec|Mon|Tues|Tue|Wed|Thurs|"
    "Thur|Thu|Fri|Sat|Sun|Ave|Blvd|Rd|Attn|Vol|Esq|Assn|Dept|etc|vs|al|approx|dept|esp|est|ext|eg|"
    r"ie|lbs|lb|oz|Ph\.?D"
)
LATE = r"em|n|til|till|cause|bout|tis|twas|\d\ds?"  # what an apostrophe may begin
CLITICS = "s|m|d|ll|ve|re"

# Each repetition that may turn out to be in vain has a limit: time must not grow as the square.
TOKEN = re.compile(
    rf"""
      (?P<address> (?i: https?:// | ftp:// | mailto: | www\. ) [^\s<>"]+ )
    | (?<![\w@]) [\w.+%\-]{{1,64}} @ \w [\w\-]{{0,62}} (?: \.\w[\w\-]{{0,62}} ){{0,8}}
    | (?: [\w\-]{{1,63}}\. ){{1,8}} (?i: (?:{SITES}) (?: /[^\s<>"]* )? | (?:{FILES}) ) (?![\w\-])
    | (?<!\w) (?: [:;=]-?(?:[)(]+|[\]\[DPpO/\\|]) | \^_{{1,9}}\^ | -_{{1,9}}- | <3 | \([:;] )
        (?= $ | [.,!?] )                                                                # smileys
    | (?<!\w) (?: \+?\d{{1,3}}[-.] )? \d{{3}}[-./]\d{{3}}[-.]\d{{4}} (?![\w\-])       # telephones
    | (?<!\w) (?: \d{{3}} | \d{{5}} ) - \d{{4}} (?![\w\-])
    | (?<!\w) \d{{1,4}} (?P<between>[-/]) \d{{1,2}} (?P=between) \d{{1,4}} (?![\w/\-])    # dates
    | (?<!\w) (?! (?: [12]/[23] | [13]/4 ) (?!\d) )
        (?: 0?[1-9] | 1[0-2] ) / (?: 0?[1-9] | [12]\d | 3[01] ) (?![\w/])
    | (?<!\w) (?: {SHORT} | [A-HJ-Z] ) \. (?!\w)
    | (?<!\w) [A-Za-z] (?: \.[A-Za-z] )+ (?!\w) \.?
    | (?<!\w) ' (?i: {LATE} | {CLITICS} ) (?![\w'])
    | (?<!\w) \d+ (?: [.,:]\d+ )* (?= (?i: {UNITS} ) (?!\w) )
    | (?<!\w) (?: \+?\d+ (?: [.,:]\d+ )* | \.\d+ ) (?: '?s )? (?!\w)
    | (?<!\w) (?i: w/out | w/o | w/ | b/c | b/t ) (?!\w)
    | (?<!\w) [@\#] [^\W\d]\w* | (?<!\w) US?\$
    | (?<![\w*]) [^\W\d]{{1,20}} \*{{1,9}} [^\W\d]{{1,20}} (?![\w*])                 # s*ap
    | (?P<word> (?: (?<![\w\-]) (?i: {PREFIXES} ) - (?=\w) )?
        (?: (?: [A-Z]{{1,8}}& )+ [A-Z] [A-Za-z]* | \w+ ) (?: '\w+ )* )
    | [.!?…]+ | '' | <- | -> | => | (?P<again>[^\w\s"'()\[\],;:]) (?P=again)* | \S
    """,
    re.VERBOSE,
)
CLITIC = re.compile(rf"(?i)(?<=[^\W\d])(?:n't|(?<!\by)(?<!\bya)'(?:{CLITICS}))$")
RUN_TOGETHER = re.compile(
    "(?i)(?:(can)not|(gon|wan)na|(got)ta|(gim|lem)me|(that|what)s|(i)m|"
    "(do|does|did|is|was|are|were|has|have|had|would|could|should|must|ai|ca|wo)nt)"
)
CLITICS_OF_A_WORD = 3  # "should n't 've"
NUMBERED = frozenset(("No", "Nos", "no", "nos", "Fig", "fig", "pp", "p", "Sec", "Ch"))
DROPPED = re.compile(r"(?i)[a-z]{2,20}in")  # "cookin'": the apostrophe stands for a g
TRAILING = ".,;:!?'\"])}"
ENDS = re.compile(r"[.!?…]+")
FACE = re.compile(r"[:;=]-?[)(\]\[DPpO/\\|]+|\^_+\^|-_+-|<3")
CLOSED_AT_ONCE = 8  # quotes, brackets and smileys behind a full stop; nobody writes more
CLOSING = frozenset("\"')]}”’»")


def split_words(text: str) -> list[str]:
    """The words of a text; put together they are the text without its white space.

    >>> " ".join(split_words("I can't (yet): e-mail well-known a@b.org by 5pm, it's $5.50!!!"))
    "I ca n't ( yet ) : e-mail well - known a@b.org by 5 pm , it 's $ 5.50 !!!"
    """
    return [word for sentence in split_sentences(text) for word in sentence]


def split_sentences(text: str) -> list[list[str]]:
    """The sentences of a text, each as its words; nothing but white space is lost.

    A sentence ends at a line's end, and after ``.``, ``!`` or ``?`` with a space behind; it takes
    closing quotes, brackets and smileys along. An ellipsis ends one if a capital letter follows.

    >>> split_sentences("Mr. Li's dog barks. Why not?")
    [['Mr.', 'Li', "'s", 'dog', 'barks', '.'], ['Why', 'not', '?']]
    """
    found: list[list[str]] = []
    for line in LINES.split(text):
        chunks = line.split()
        following = [*chunks[1:], ""][: len(chunks)]
        found.extend(_sentences(list(map(_words, chunks, following))))
    return found


def _words(chunk: str, after: str) -> list[str]:
    """The words of what stands between two spaces; ``after`` is what follows."""
    seen = _plain(chunk)
    found: list[str] = []
    place = 0
    while place < len(chunk):
        match = TOKEN.match(seen, place)
        end = place + 1 if match is None else match.end()
        if match is not None and match["address"]:
            end = place + len(_without_trailing(match["address"]))
        elif match is not None and match["word"]:
            if not _is_cut_short(match["word"], seen[end : end + 2], seen[:1], after):
                found.extend(_parts(chunk[place:end], match["word"]))
                place = end
                continue
            end += 1
        found.append(chunk[place:end])
        place = end
    return found


def _is_cut_short(word: str, rest: str, first: str, after: str) -> bool:
    """Whether the mark behind a word is its own: "No." before a number, "cookin'"."""
    if rest == ".":
        return word in NUMBERED and after[:1].isdigit()
    return rest[:1] == "'" != first and DROPPED.fullmatch(word) is not None


def _plain(chunk: str) -> str:
    """The same number of characters, of a kind the rules are written for.

    Apostrophes become ``'``. What leans on the character before it, as accents and an emoji's
    colour do, becomes that character, so that the two are never parted.
    """
    if chunk.isascii():
        return chunk.replace("`", "'")
    plain: list[str] = []
    joined = False
    for letter in chunk:
        leans = joined or ord(letter) in SKINS or unicodedata.category(letter)[0] == "M"
        leans = leans or unicodedata.category(letter) == "Cf"
        if leans and plain:
            plain.append(plain[-1])
        else:
            plain.append("'" if letter in APOSTROPHES else letter)
        joined = letter == JOINER
    return "".join(plain)


def _without_trailing(address: str) -> str:
    """An address without the punctuation of the sentence it stands in."""
    end = len(address)
    while end > 1 and address[end - 1] in TRAILING:
        if address[end - 1] == ")" and "(" in address[:end]:
            break
        end -= 1
    return address[:end]


def _parts(word: str, plain: str) -> Iterator[str]:
    """A word and what leans on it: "do", "n't"."""
    together = RUN_TOGETHER.fullmatch(plain)
    if together is not None:
        cut = together.end(together.lastindex or 0)
        yield from (word[:cut], word[cut:])
        return
    tail: list[str] = []
    while len(tail) < CLITICS_OF_A_WORD and (match := CLITIC.search(plain)):
        tail.append(word[match.start() :])
        word, plain = word[: match.start()], plain[: match.start()]
    yield word
    yield from reversed(tail)


def _sentences(chunks: Sequence[list[str]]) -> Iterator[list[str]]:
    """The sentences of a line, given what stands between its spaces."""
    sentence: list[str] = []
    for i, chunk in enumerate(chunks):
        after = chunks[i + 1] if i + 1 < len(chunks) else None
        sentence += chunk
        if after is None:
            _part_last(sentence)
            yield sentence
        elif _ends_here(sentence, after):
            if sentence[-1] == "etc.":
                _part_last(sentence)
            yield sentence
            sentence = []


def _part_last(sentence: list[str]) -> None:
    """The full stop of a last word, "p.m.", is the sentence's too, and stands apart."""
    last = sentence[-1]
    if len(last) > 1 and last[-1] == "." and last[-2].isalpha():
        sentence[-1:] = [last[:-1], "."]


def _ends_here(sentence: Sequence[str], after: Sequence[str]) -> bool:
    last = len(sentence) - 1
    first = max(last - CLOSED_AT_ONCE, 0)
    while last > first and (sentence[last] in CLOSING or FACE.fullmatch(sentence[last])):
        last -= 1
    mark, following = sentence[last], after[0]
    if FACE.fullmatch(following):
        return False
    capital = following[:1].isupper() or not following[:1].isalpha()
    if mark == "etc.":
        return following[:1].isupper()
    if not ENDS.fullmatch(mark):
        return False
    if mark == ".":  # not after the number of an item, "1. "
        counted = last == 1 and (sentence[0].isdigit() or len(sentence[0]) == 1)
        return not counted and (capital or last == len(sentence) - 1)
    if set(mark) <= {".", "…"}:
        return following[:1].isupper() and following != "I"
    return capital
