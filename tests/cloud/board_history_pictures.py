"""Makes the pictures of the board's cluster: `python -m tests.cloud.board_history_pictures doc`."""

import contextlib
import pathlib
import sys
import tempfile

from playwright.sync_api import sync_playwright

from tests.cloud.board_api import Api
from tests.cloud.board_history import month, write
from tests.cloud.browser import launched

PATIENCE = 60000


def main(target):
    with contextlib.ExitStack() as stack:
        directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        api = Api(directory)
        stack.callback(api.close)
        api.start()
        write(api.store, month())
        api.wait()
        browser = stack.enter_context(launched(stack.enter_context(sync_playwright())))
        for scheme, width, height, span, suffix in (
            ("light", 1200, 880, "Week", "-light"),
            ("dark", 1200, 880, "Day", "-dark"),
            ("light", 400, 800, "Month", "-narrow"),
        ):
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-GB"
            )
            page.goto(f"{api.url}/board#/cluster")
            page.get_by_text(span, exact=True).click()
            page.locator(".uplot canvas").nth(3).wait_for(timeout=PATIENCE)
            page.wait_for_timeout(1000)
            page.screenshot(path=target / f"board-cluster{suffix}.png")
            page.close()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
