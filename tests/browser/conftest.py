"""A real browser that may ask nobody, and pages to open in it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
WAIT = 15_000  # ms; nothing here takes a second, on a machine that has nothing else to do
# as make test-browser sets it: where it is said, a browser that is not there is a failure
REQUIRED = os.environ.get("REGARD_BROWSER") == "required"


def chromium():
    """Where a Chromium is, or None."""
    named = os.environ.get("REGARD_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


def lacking():
    """What is missing for the tests of this folder, in words; None: nothing."""
    for name in ("playwright", "axe_playwright_python", "PIL"):
        if find_spec(name) is None:
            return f"{name} is not installed: pip install 'regard[browser]'"
    if chromium() is None:
        return "no Chromium was found: install one, or say where with REGARD_CHROMIUM"
    return None


def pytest_collection_modifyitems(items):
    reason = None if REQUIRED else lacking()
    if reason is not None:
        here = Path(__file__).parent
        for item in items:
            if here in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=reason))


# of this folder, not of the session: its event loop would be in the way of other tests' loops
@pytest.fixture(scope="package")
def browser():
    """Chromium, without a window."""
    reason = lacking()
    assert reason is None, reason
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # a container's root has no sandbox; a software canvas paints the same everywhere
        options = ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"]
        started = driver.chromium.launch(executable_path=chromium(), args=options)
        yield started
        started.close()


@dataclass
class Tab:
    """An open page, and all that it did besides."""

    page: object
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def go(self, address):
        """Open a page and wait until it shows something."""
        self.page.goto(address if isinstance(address, str) else address.as_uri())
        self.ready()

    def ready(self):
        self.page.wait_for_selector("[data-ready]", state="attached", timeout=WAIT)


@pytest.fixture
def tab(browser):
    """Opens tabs: ``with tab(color_scheme="dark") as t``. A page that asks or complains fails.

    ``allowed``: beginnings of addresses it may ask; ``expected``: what it may complain about.
    """

    @contextmanager
    def opened(*, allowed=(), expected=r"(?!)", **options) -> Iterator[Tab]:
        options = {"viewport": {"width": 1200, "height": 820}, "locale": "en-GB", **options}
        context = browser.new_context(reduced_motion="reduce", **options)
        context.set_default_timeout(WAIT)
        page = context.new_page()
        found = Tab(page)

        def asked(route):
            address = route.request.url
            first = route.request.is_navigation_request() and address.startswith("file:")
            if first or address.startswith(allowed or ("nobody:",)):
                route.continue_()
                return
            found.requests.append(address)
            route.abort()

        context.route("**/*", asked)
        page.on("console", lambda m: m.type in {"error", "warning"} and found.errors.append(m.text))
        page.on("pageerror", lambda error: found.errors.append(str(error)))
        page.add_init_script(
            "addEventListener('securitypolicyviolation', (e) =>"
            " console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))"
        )
        try:
            yield found
        finally:
            context.close()
        assert found.requests == []
        assert [error for error in found.errors if not re.search(expected, error)] == []

    return opened
