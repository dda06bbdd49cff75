"""A day of jobs as the board shows it: real Nova, queue manager and API, and a real browser."""

import contextlib
import re

import pytest
import requests

from nova_twotier import conf as configuration
from nova_twotier.cloud.nova import Cloud
from nova_twotier.db.store import open_store
from nova_twotier.tools.replay.supervisor import Supervisor, python
from tests.cloud.browser import CHROMIUM, launched
from tests.cloud.waiting import wait_for
from tests.ports import free_port

playwright_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright_api.expect

pytestmark = [
    pytest.mark.cloud,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]

ALICE = "alice:demo:member,twotier_urgent"
POOL = "board"
#: Seconds; Nova boots several servers at once.
PATIENCE = 240


class Day:
    """A pool of a single host, with a manager, an API and a page of its board."""

    def __init__(self, url, store, slots, page):
        self.url, self.store, self.slots, self.page = url, store, slots, page

    def submit(self, name, **body):
        """A job that takes all slots of a tier."""
        answer = requests.post(
            f"{self.url}/v1/jobs",
            headers={"X-Auth-Token": ALICE},
            json={"name": name, "size": self.slots, "pool": POOL, **body},
            timeout=60,
        )
        assert answer.status_code == 201, answer.text
        return answer.json()

    def ended(self, job):
        """Its guests have done their work."""
        self.store.request_action(job["number"], "complete")

    def row(self, name):
        return self.page.get_by_role("row").filter(has=self.page.get_by_role("link", name=name))

    def show(self, job=None):
        self.page.goto(f"{self.url}/board#/" + (f"job/{job['uuid']}" if job else "queue"))

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()


@pytest.fixture
def day(fakecloud, tmp_path):
    info, port = fakecloud.info(), free_port()
    path = tmp_path / "board.conf"
    path.write_text(
        f"[DEFAULT]\nstate_path = {tmp_path}/state\n"
        f"[manager]\npools = default,{POOL}\nhost_interval = 2\nqos_classes = true\n"
        f"[api]\nauth_strategy = noauth\nboard = true\nlisten = 127.0.0.1\nport = {port}\n"
        "rate_limit =\n"
    )
    files = [f"--config-file={info['files']['manager_conf']}", f"--config-file={path}"]
    conf = configuration.load(files, "test")
    nova = Cloud(conf).nova
    aggregate = nova.aggregates.create(POOL, None)
    url = f"http://127.0.0.1:{port}"

    def answers():
        with contextlib.suppress(requests.ConnectionError):
            return requests.get(f"{url}/v1", timeout=10).ok

    with contextlib.ExitStack() as stack:
        stack.callback(nova.aggregates.delete, aggregate)
        host = info["hosts"][-1]
        nova.aggregates.add_host(aggregate, host)
        stack.callback(nova.aggregates.remove_host, aggregate, host)
        nova.aggregates.set_metadata(aggregate, {"twotier:pool": POOL})
        store = open_store(conf)
        stack.callback(store.close)
        for name in ("manager", "api"):
            argv = python(f"nova_twotier.cmd.{name}", *files)
            stack.enter_context(Supervisor(name, argv, tmp_path / f"{name}.log", print))
        wait_for(answers, "the API does not answer")
        expect.set_options(timeout=1000 * PATIENCE)
        playwright = stack.enter_context(playwright_api.sync_playwright())
        page = stack.enter_context(launched(playwright)).new_page(locale="en-GB")
        yield Day(url, store, info["slots"], page)


def test_from_the_submission_to_the_end(day):
    day.show()
    page = day.page
    page.get_by_label("You are").fill(ALICE)
    day.press("Change")
    expect(page.get_by_text("There are no such jobs.")).to_be_visible()

    first = day.submit("first", cpu=[0.5] * day.slots)
    second = day.submit("second", cpu=[0.5] * day.slots)
    third = day.submit("third", cpu=[0.5] * day.slots)
    page.get_by_text(re.compile(r"^All \d")).click()
    expect(day.row("first").locator(".c-tier")).to_have_text("foreground")
    expect(day.row("second").locator(".c-tier")).to_have_text("background")
    expect(day.row("third").locator(".c-reason code")).to_have_text("slots")
    expect(day.row("third").locator(".c-position")).to_have_text("1")

    # Hold and release from the page.
    day.row("third").get_by_role("link").click()
    day.press("Hold")
    expect(page.get_by_role("main")).to_contain_text("held until it is released")
    day.press("Release")
    expect(page.get_by_role("button", name="Hold")).to_be_visible()

    # The first ends: the second is swapped into the foreground, the third starts below it.
    day.ended(first)
    day.show(second)
    expect(page.locator(".events")).to_contain_text("swapped")
    day.show(third)
    expect(page.locator(".state")).to_contain_text("running")

    # One that is urgent evicts the second, which waits then with its state saved.
    day.show(second)
    urgent = day.submit("urgent", cpu=[0.5] * day.slots, qos="urgent")
    expect(page.locator(".state")).to_contain_text("queued")
    events = page.locator(".events")
    expect(events).to_contain_text(f"preempted by job {urgent['number']}")
    expect(events.get_by_role("link", name=f"job {urgent['number']}")).to_be_visible()
    day.show()
    expect(day.row("urgent").locator(".c-tier")).to_have_text("foreground")
    expect(day.row("second").locator(".c-evictions")).to_have_text("1")
    expect(day.row("second").locator(".c-position")).to_have_text("1")

    # Cancelled and completed from the page; the second goes on.
    day.row("third").get_by_role("link").click()
    day.press("Cancel job…")
    day.press("Cancel the job")
    expect(page.locator(".state")).to_contain_text("cancelled")
    day.show(urgent)
    day.press("Complete")
    expect(page.locator(".state")).to_contain_text("finished")
    day.show(second)
    expect(page.locator(".state")).to_contain_text("running")
    day.ended(second)
    expect(page.locator(".state")).to_contain_text("finished")
    day.show()
    expect(page.get_by_text("There are no such jobs.")).to_be_visible()
