"""A document as one HTML file that needs nothing else: no network, no server, no other file."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files

from regard.errors import StateError
from regard.viewing.document import Document

__all__ = ["frame", "html", "policy"]

HEIGHT = 720  # pixels of a page in a notebook
ENDINGS = ("</script", "<!--", "</style")  # what would end a script or a style before its end
# as JSON they mean the same, and no reader of HTML or JavaScript takes them for its own
HIDDEN = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def html(document: Document, *, live: bool = False, summary: str = "") -> str:
    """The page of a document.

    Args:
        document: what to show.
        live: whether it may ask the server it came from; without, it may ask nobody.
        summary: a text for those whose browser runs no scripts.

    Raises:
        StateError: the page's script is not built, in a copy of the sources.

    """
    script, style = _built("page.js"), _built("page.css")
    head = document.header
    title = escape(head["title"] or "regard", quote=True)
    told = [note[head["language"] or "en"] for note in head["notes"]]
    text = "\n\n".join(filter(None, ["This page needs JavaScript.", *told, summary]))
    numbers = base64.b64encode(document.deflated).decode("ascii")
    return f"""<!DOCTYPE html>
<html lang="{head["language"] or "en"}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(live=live)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript><h1>{title}</h1><pre>{escape(text)}</pre></noscript>
<script type="application/json" id="regard-document">{as_json(document)}</script>
<script type="text/plain" id="regard-data">{numbers}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def as_json(document: Document) -> str:
    r"""The header, written so that nothing in it can end the element it stands in.

    >>> as_json(Document({"title": "</script>"}, b"", b""))
    '{"title":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(document.header, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(HIDDEN)


def policy(*, live: bool = False) -> str:
    """The Content-Security-Policy of a page: its own script and style, and nothing else."""
    script, style = (_hash(_built(name)) for name in ("page.js", "page.css"))
    rules = [
        "default-src 'none'",
        f"script-src '{script}'",
        f"style-src '{style}'",
        "img-src data: blob:",
        *(["connect-src 'self'"] if live else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules)


def frame(page: str, title: str, height: int = HEIGHT) -> str:
    """The page inside another one, as a notebook shows it: on its own, and without rights."""
    return (
        f'<iframe srcdoc="{escape(page, quote=True)}" sandbox="allow-scripts" width="100%" '
        f'height="{height}" title="{escape(title or "attention weights", quote=True)}" '
        'style="border:0;display:block"></iframe>'
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _built(name: str) -> str:
    """The page's script or style, which come with the package."""
    try:
        data = files("regard.viewing").joinpath(f"built/{name}").read_bytes()
    except FileNotFoundError as cause:
        msg = (
            f"the page's {name} is not there: it is built from page/ and comes with an installed "
            "regard; in a copy of the sources run `make page`"
        )
        raise StateError(msg) from cause
    # a browser reads \r\n as \n, and the hash is of what it reads
    text = data.decode().replace("\r\n", "\n")
    if any(ending in text.lower() for ending in ENDINGS):
        msg = f"the page's {name} holds {', '.join(ENDINGS)}, and would end there; build it again"
        raise StateError(msg)
    return text
