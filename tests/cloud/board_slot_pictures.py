"""Makes the pictures of the board's slots: `python -m tests.cloud.board_slot_pictures doc`."""

import contextlib
import pathlib
import sys
import tempfile

from playwright.sync_api import sync_playwright

from tests.cloud.board_api import Api
from tests.cloud.board_cluster import HOUR, Cluster, FakePlacement, host_name
from tests.cloud.browser import launched

HOSTS, SLOTS = 48, 16
PATIENCE = 60000


def filled(cluster):
    """The first host, with what a schedule may have."""
    ocean = cluster.job(4, name="ocean", project="climate")
    for process in range(4):
        cluster.stay(ocean, process, -3.4 * HOUR, -HOUR, process, tier="bg")
        cluster.stay(ocean, process, -HOUR, None, process)
    cluster.predict(ocean, finish=cluster.now + 1.1 * HOUR)
    mesh = cluster.job(4, name="mesh", project="climate")
    for process in range(4):
        cluster.stay(mesh, process, -3.7 * HOUR, -HOUR, process)
        cluster.stay(mesh, process, -HOUR, None, process, tier="bg")
    cluster.predict(mesh, finish=cluster.now + 1.6 * HOUR)
    sweep = cluster.job(2, name="sweep", project="climate")
    for process in range(2):
        cluster.stay(sweep, 4 + process, -3.5 * HOUR, -2.6 * HOUR, process)
        cluster.stay(sweep, 4 + process, -1.8 * HOUR, -0.6 * HOUR, process)
        cluster.stay(sweep, 8 + process, -0.6 * HOUR, None, process)
    for slot in range(6, 16):
        done = cluster.job(state="finished")
        cluster.stay(done, slot, -3.9 * HOUR + 200 * slot, -2 * HOUR + 300 * slot, tier="bg")


def main(target):
    with contextlib.ExitStack() as stack:
        directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cluster = Cluster(HOSTS, SLOTS)
        filled(cluster)
        for each in range(8):
            cluster.waiting(600.0 + 1000 * each)
        closed = {host_name(number): number % 4 for number in range(HOSTS)}
        placement = FakePlacement(HOSTS, SLOTS, closed)
        stack.callback(placement.close)
        api = Api(directory, placement=placement.options, coordination={"lease": 86400})
        stack.callback(api.close)
        api.start()
        cluster.write(api.store)
        api.wait()
        browser = stack.enter_context(launched(stack.enter_context(sync_playwright())))
        for scheme, width, height, suffix in (
            ("light", 1200, 720, ""),
            ("dark", 1200, 720, "-dark"),
            ("light", 400, 800, "-narrow"),
        ):
            for view in ("now", "timeline"):
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-GB"
                )
                page.goto(f"{api.url}/board#/{view}")
                page.locator(".told", has_text="Point at").wait_for(timeout=PATIENCE)
                page.locator(".legend", has_text=f"{HOSTS} hosts").wait_for(timeout=PATIENCE)
                page.wait_for_timeout(1000)
                page.screenshot(path=target / f"board-{view}{suffix}.png")
                page.close()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
