"""The browser of the tests of the board: Debian's Chromium."""

import contextlib
import pathlib
import shutil

import pytest

#: Finds what people with disabilities cannot use: axe-core, see its README.md.
AXE = pathlib.Path(__file__).parent / "axe" / "axe.min.js"
#: What it must not find.
GRAVE = ("serious", "critical")
THEMES = ("light", "dark")
#: Milliseconds that a test waits for what it expects of a page.
PATIENCE = 60000

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@contextlib.contextmanager
def launched(playwright):
    """The browser, while the context lasts."""
    # Its sandbox does not work for root, as whom containers run the tests.
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    try:
        yield browser
    finally:
        browser.close()


@pytest.fixture(scope="module")
def browser():
    # Tests that have no playwright are skipped before.
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright, launched(playwright) as started:
        yield started


@pytest.fixture
def board(browser):
    """Opens a page of the board: `board(url, **options)`.

    The test fails if a page has met an error, or has broken its content security policy.
    """
    with contextlib.ExitStack() as stack:
        wrong = []

        def opened(url, **options):
            context = browser.new_context(locale="en-GB", **options)
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("console", lambda said: wrong.append(said.text) if violates(said) else None)
            page.goto(url)
            return page

        yield opened
        assert wrong == []


def violates(said):
    return "Content Security Policy" in said.text


def hindrances(page):
    """What axe-core finds on a page that is serious or critical, as lines of text."""
    # By the debugger's protocol, which the page's content security policy does not concern.
    page.evaluate(f"() => {{ {AXE.read_text()} }}")
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['impact']}: {each['help']}: {node['html'][:200]} {node.get('failureSummary', '')}"
        for each in found["violations"]
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]


def fits(page):
    """Whether the page is no wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")
