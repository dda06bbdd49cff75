"""The browser of the tests of the board: Debian's Chromium."""

import contextlib
import pathlib
import shutil

#: Finds what people with disabilities cannot use: axe-core, see its README.md.
AXE = pathlib.Path(__file__).parent / "axe" / "axe.min.js"
#: What it must not find.
GRAVE = ("serious", "critical")
THEMES = ("light", "dark")

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
