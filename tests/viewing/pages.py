"""A page taken apart, as a browser would."""

import base64
import hashlib
import json
import zlib
from html.parser import HTMLParser

__all__ = ["Page", "hash_of"]


class Page(HTMLParser):
    """Everything of a page: its elements with their attributes, and the text inside each."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self._open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.texts.append("")
        if tag != "meta":
            self._open.append(len(self.texts) - 1)

    def handle_endtag(self, tag):
        self._open.pop()

    def handle_data(self, data):
        if self._open:
            self.texts[self._open[-1]] += data

    @property
    def tags(self):
        return [tag for tag, _ in self.elements]

    def text(self, tag, **wanted):
        (found,) = [
            text
            for (name, attrs), text in zip(self.elements, self.texts, strict=True)
            if name == tag and all(attrs.get(key) == value for key, value in wanted.items())
        ]
        return found

    @property
    def policy(self):
        (found,) = [attrs["content"] for _, attrs in self.elements if "http-equiv" in attrs]
        return dict(rule.split(" ", 1) for rule in found.split("; "))

    @property
    def header(self):
        return json.loads(self.text("script", id="regard-document"))

    @property
    def data(self):
        return zlib.decompress(base64.b64decode(self.text("script", id="regard-data")))


def hash_of(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
