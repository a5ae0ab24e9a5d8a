"""What can be looked at: captures in files, and models that read a text as they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli import pages
from regard.errors import StateError, ValueRangeError

if TYPE_CHECKING:  # torch takes seconds to import, and `regard view --help` does without
    from regard.tasks.classification import Classifier
    from regard.tasks.tagging import Tagger
    from regard.tasks.translation.translator import Translator
    from regard.viewing.captured import Captures
    from regard.viewing.sides import Tokens
    from regard.viewing.view import View

__all__ = [
    "Chosen",
    "of_classifier",
    "of_file",
    "of_model",
    "of_tagger",
    "of_translator",
    "together",
]

EXAMPLES = {"zh": "你想看书吗？", "en": "The old man saw a dog that barked at him."}  # noqa: RUF001
BEGIN = "<s>"  # what a translation is begun after


class Chosen:
    """Which layers and heads are looked at; all, where nothing is said.

    Args:
        layers: names of modules, or their beginnings.
        heads: numbers, from 0 on.

    """

    def __init__(
        self, layers: Sequence[str] | None = None, heads: Sequence[int] | None = None
    ) -> None:
        self.layers, self.heads = layers, heads

    def seen(self, model: Any, run: Callable[[], object]) -> Captures:  # noqa: ANN401 - a module
        """What a model attends to while ``run`` runs it."""
        from regard.viewing.capturing import capture  # noqa: PLC0415 - imports torch

        with capture(model, heads=self.heads) as found:
            run()
        return self.of(found)

    def of(self, captures: Captures) -> Captures:
        """Those of calls that were captured before."""
        from regard.viewing.captured import Captures  # noqa: PLC0415 - imports torch

        found = Captures()
        for call in captures:
            named = self.layers is None or any(
                call.name == layer or call.name.startswith(f"{layer}.") for layer in self.layers
            )
            if named:
                found.add(call)
        if not len(found):
            names = ", ".join(captures.names)
            msg = f"--layers must be among {names}, or what these begin with before a dot"
            raise ValueRangeError(msg)
        return found

    def heads_in(self, view: View) -> View:
        """The view without heads that are not wanted."""
        if self.heads is not None:
            there = sorted({one.head.number for one in view.drawn})
            view.drawn = [one for one in view.drawn if one.head.number in self.heads]
            if not view.drawn:
                msg = f"--heads must be among {', '.join(map(str, there))}"
                raise ValueRangeError(msg)
        return view


def of_file(path: Path, chosen: Chosen) -> View:
    """A capture that was saved."""
    from regard.tasks.captures import load_captures  # noqa: PLC0415 - imports torch
    from regard.viewing.looking import look  # noqa: PLC0415 - likewise

    kept = load_captures(path)
    view = look(chosen.of(kept.captures), kept.tokens, title=path.name)
    return chosen.heads_in(view)


def of_model(
    name: str, text: str | None, file: Path | None, chosen: Chosen, device: str = "cpu"
) -> View:
    """A model, by its name or the folder of its run, as it reads a text."""
    task = _task(name)
    if file is not None and task != "classification":
        msg = f"--file is what a classifier of sounds or images takes; give {name} a --text"
        raise ValueRangeError(msg)
    if task == "classification":
        from regard.tasks.classification import Classifier  # noqa: PLC0415 - imports torch

        return of_classifier(Classifier.load(name, device), text, file, chosen)
    if text is None:
        text = next((x for start, x in EXAMPLES.items() if _shipped(name, start)), None)
    if text is None:
        msg = f"{name}: say with --text what the model shall read"
        raise ValueRangeError(msg)
    if task == "tagging":
        from regard.tasks.tagging.tagger import Tagger  # noqa: PLC0415 - imports torch

        return of_tagger(Tagger.load(name, device), text, chosen)
    from regard.tasks.translation.translator import Translator  # noqa: PLC0415 - imports torch

    return of_translator(Translator.load(name, device), text, chosen)


def of_translator(translator: Translator, text: str, chosen: Chosen) -> View:
    """All maps of a translation: source on source, target on target, target on source."""
    from regard.models import Transformer  # noqa: PLC0415 - imports torch
    from regard.viewing.looking import look  # noqa: PLC0415 - likewise

    translation = translator(text)
    if not isinstance(translator.model, Transformer):  # it has one look, at the source
        view = pages.of_translation(translation)
        return chosen.heads_in(_some(view, text))
    views = {}
    for i, part in enumerate(translation.parts or (translation,), 1):
        if not part.tokens:
            continue
        read, written = list(part.source_tokens), list(part.tokens)
        before = [BEGIN, *written[:-1]]
        seen = chosen.seen(translator.model, part.look)
        tokens = {
            name: (written, read) if ".to_source" in name else (before, before)
            for name in seen.names
            if name.startswith("decoder")
        }
        views[f"{i}. {part.source}"] = look(seen, {"encoder": read, **tokens})
    return _titled(together(views), translation.source, text)


def of_tagger(tagger: Tagger, text: str, chosen: Chosen) -> View:
    """All maps of a tagged text, sentence by sentence."""
    from regard.viewing.looking import look  # noqa: PLC0415 - imports torch

    views = {}
    tagged = tagger(text)
    for i, sentence in enumerate(tagged.sentences, 1):
        seen = chosen.seen(tagger.model, sentence.look) if tagger.looks else None
        words = list(sentence.words)
        if seen is not None and all(call.q.shape[-2] == len(words) for call in seen):
            view = look(seen, words)
        else:  # a sentence that is read in pieces; or there is no attention, which look() tells
            view = chosen.heads_in(_some(pages.of_tagged(sentence, None, None), text))
        views[f"{i}. {' '.join(words)}"] = view
    return _titled(together(views), " ".join(tagged.words), text)


def of_classifier(
    classifier: Classifier, text: str | None, file: Path | None, chosen: Chosen
) -> View:
    """Where a classifier looked; of a text also what its encoder attended to."""
    from regard.viewing.looking import look  # noqa: PLC0415 - imports torch

    kind = classifier.kind
    given = text if kind == "text" else file
    if given is None:
        flag = "--text" if kind == "text" else "--file"
        msg = f"this model classifies {kind}; give {flag}"
        raise ValueRangeError(msg)
    classified = classifier(given)
    if kind != "text":
        return chosen.heads_in(pages.of_classified(str(given), classified))
    seen = chosen.seen(classifier.model, classified.look)
    read = [str(place) for place in classified.places]
    tokens: Tokens = {"encoder": read, "pooling": ([classified.label], read)}
    return _titled(look(seen, tokens), f"{given}: {classified.label}", str(given))


def together(views: Mapping[str, View]) -> View:
    """Several views as one, each under its name; one alone stays what it is."""
    from regard.viewing.view import View  # noqa: PLC0415 - imports torch

    if len(views) == 1:
        return next(iter(views.values()))
    drawn = []
    words: list[list[str]] = []
    for name, view in views.items():
        if view.backdrop is not None:
            msg = "sounds and images are looked at one at a time; give one of them"
            raise ValueRangeError(msg)
        at = len(words)
        words += view.tokens
        for one in view.drawn:
            rows, cols = (None if x is None else x + at for x in (one.row_tokens, one.col_tokens))
            model = " ".join(filter(None, (_short(name), one.model)))
            drawn.append(one._replace(row_tokens=rows, col_tokens=cols, model=model))
    return View(drawn, words, title=_short(", ".join(views)))


def _titled(view: View, title: str, text: str) -> View:
    if not view.drawn:
        return _some(None, text)
    view.title = _short(title)
    return view


def _some(view: View | None, text: str) -> View:
    if view is None:
        msg = f"there is nothing to look at in the text {text!r}"
        raise StateError(msg)
    return view


def _short(text: str, longest: int = 60) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _task(name: str) -> str:
    """What a model is for, found without loading it."""
    from regard.tasks.run import Run  # noqa: PLC0415 - not for --help

    if (Path(name) / "run.json").exists():
        return Run.open(Path(name)).task
    for task in ("tagging", "translation"):
        if (_home(task) / name / "run.json").is_file():
            return task
    known = sorted(
        path.parent.name
        for task in ("tagging", "translation")
        for path in _home(task).glob("*/run.json")
    )
    msg = (
        f"there is no capture, no run and no model {name!r}; a capture is a file, a run is named "
        f"by its folder, and of models there are {', '.join(known)}"
    )
    raise ValueRangeError(msg)


def _home(task: str) -> Path:
    return Path(__file__).parent.parent / "tasks" / task / "shipped"


def _shipped(name: str, start: str) -> bool:
    """Whether it is a model that comes with regard, of a language that begins its name."""
    return not (Path(name) / "run.json").exists() and name.split("-", maxsplit=1)[0] == start
