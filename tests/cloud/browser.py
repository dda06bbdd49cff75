"""The browser of the tests of the board: Debian's Chromium."""

import contextlib
import shutil

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
