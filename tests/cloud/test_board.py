"""The board in a browser, on a real API."""

import contextlib
import re

import pytest

from nova_twotier.core.reasons import changes, waits
from nova_twotier.db.models import Prediction
from tests.cloud.board_api import Api, happen, run, wait
from tests.cloud.board_history import month, write
from tests.cloud.board_pictures import predict
from tests.cloud.browser import CHROMIUM, THEMES, fits, hindrances
from tests.cloud.waiting import wait_for

playwright_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright_api.expect

pytestmark = [
    pytest.mark.cloud,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]

ALICE, BOB = "alice:demo", "bob:other"
#: As format.js has it.
NOTHING = "\N{EN DASH}"
#: Whether an area is painted at a point of the page in a chart; a line of its grid is none.
PAINTED = """(canvas, [x, y]) => {
  const {left, top} = canvas.getBoundingClientRect();
  const {data} = canvas.getContext("2d").getImageData(x - left - 2, y - top, 5, 1);
  return [3, 7, 11, 15, 19].every((at) => data[at] > 0);
}"""

#: Remembers half the width of every text that is painted around its place, as times below charts.
WRITES = """() => {
  window.halves = [];
  const paint = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    if (this.textAlign === "center") halves.push(this.measureText(text).width / 2);
    return paint.call(this, text, ...place);
  };
}"""


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    # Predictions are told as long as the manager lives.
    lease = {"lease": 86400}
    with contextlib.closing(Api(tmp_path_factory.mktemp("noauth"), coordination=lease)) as found:
        found.start()
        found.wait()
        yield found


def become(page, who):
    page.get_by_label("You are").fill(who)
    page.get_by_role("button", name="Change").click()
    # It is gone until the page shows what this one may see.
    expect(page.get_by_label("You are")).to_have_value(who)


def test_a_job_waits_is_held_and_is_cancelled(api, board):
    job = api.submit(ALICE, size=4, name="ocean")
    wait(api.store, job, waits.SLOTS(size=4, idle=1, open=0))
    page = board(f"{api.url}/board")
    expect(page.get_by_role("form", name="Demonstration")).to_contain_text("without passwords")
    row = page.get_by_role("row").filter(has_text="ocean")
    expect(row).to_contain_text("needs 4 foreground slots, 1 idle")
    expect(row.locator("code")).to_have_text("slots")
    expect(row.locator(".c-position")).to_have_text("1")
    row.get_by_role("link", name="ocean").press("Enter")
    expect(page).to_have_url(f"{api.url}/board#/job/{job['uuid']}")

    page.get_by_role("button", name="Hold").click()
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("held until it is released")
    assert api.store.find(job["uuid"]).held
    page.get_by_role("button", name="Release").click()
    expect(page.get_by_role("button", name="Hold")).to_be_visible()

    page.get_by_role("button", name="Cancel job").click()
    page.get_by_role("button", name="Keep it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert api.store.find(job["uuid"]).requested_action is None
    page.get_by_role("button", name="Cancel job").click()
    page.get_by_role("button", name="Cancel the job").click()
    expect(page.locator(".state")).to_contain_text("asked to cancel")
    assert api.store.find(job["uuid"]).requested_action == "cancel"


def test_whoever_changes_a_job_gets_no_older_answers(api, board):
    """Others may get answers that the API gave somebody seconds before."""
    job = api.submit(ALICE, name="changed")
    page = board(f"{api.url}/board")

    def allowed(act=lambda: None):
        with page.expect_request(lambda request: "/v1/queue/jobs?" in request.url) as asked:
            act()
        return asked.value.headers.get("cache-control", "")

    assert "max-stale" in allowed()
    page.get_by_role("link", name="changed").click()
    page.get_by_role("button", name="Hold").click()
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    assert "max-stale" not in allowed(page.get_by_role("link", name="Queue", exact=True).click)
    assert api.store.find(job["uuid"]).held


def test_what_has_not_changed_is_not_sent_again(api, board):
    page = board(f"{api.url}/board")
    with page.expect_response(
        lambda answer: answer.status == 304 and "/v1/queue/jobs?" in answer.url
    ):
        pass
    api.submit(ALICE, name="newcomer")
    expect(page.get_by_role("link", name="newcomer")).to_be_visible()


def test_a_refusal_is_told_in_words(api, board):
    job = api.submit(ALICE, name="refused")
    page = board(f"{api.url}/board#/job/{job['uuid']}")
    become(page, "rita:demo:reader")
    page.get_by_role("button", name="Hold").click()
    expect(page.get_by_role("alert")).to_contain_text("twotier:jobs:hold")
    assert not api.store.find(job["uuid"]).held


def test_nothing_of_another_project_reaches_the_browser(api, board):
    theirs = api.submit(BOB, name="confidential")
    run(api.store, theirs, ["node-of-theirs"])
    mine = api.submit(ALICE, name="victim")
    run(api.store, mine, ["node-of-mine"], tier="bg")
    happen(api.store, mine, "preempted", changes.PREEMPTED(theirs["number"]))
    page = board(f"{api.url}/board")
    become(page, ALICE)
    expect(page.get_by_role("checkbox", name="Own jobs first")).to_have_count(0)
    finished = []
    page.on("requestfinished", lambda request: finished.append(request))
    page.get_by_text(re.compile("^All ")).click()
    page.get_by_role("link", name="victim").click()
    expect(page.get_by_role("main")).to_contain_text("preempted by a job of another project")
    page.goto(f"{api.url}/board#/job/{theirs['uuid']}")
    expect(page.get_by_text("there is no such job in your project")).to_be_visible()
    answers = [request.response() for request in finished if "/v1/" in request.url]
    texts = [answer.text() for answer in answers if answer.ok]
    assert any("victim" in text for text in texts)
    for secret in ("confidential", "bob", theirs["uuid"], "node-of-"):
        assert not any(secret in text for text in texts), secret


@pytest.mark.parametrize(
    ("height", "rows", "limits"), [(2600, 30, {}), (900, 8, {"max_limit": 12})]
)
def test_every_row_in_view_is_there(tmp_path, board, height, rows, limits):
    with contextlib.closing(Api(tmp_path, api=limits)) as api:
        api.start()
        api.wait()
        for number in range(100):
            api.submit(ALICE, name=f"row {number}.")
        page = board(f"{api.url}/board", viewport={"width": 1200, "height": height})
        expect(page.get_by_role("link", name=" row 0.")).to_be_visible()
        box = page.locator(".scroll")
        for first in (37, 60, 0):
            box.evaluate("(box, row) => { box.scrollTop = row * 74; }", first)
            for number in range(first, first + rows):
                expect(page.get_by_role("link", name=f" row {number}.")).to_be_visible()


def test_a_job_that_ends_while_the_api_answers_makes_no_more_requests(tmp_path, board):
    """The rows then are one fewer than the counts say: that is no limit of the API."""

    def shorten(route):
        answer = route.fetch()
        shown = answer.json()
        shown["jobs"].pop()
        route.fulfill(response=answer, json=shown)

    with contextlib.closing(Api(tmp_path)) as api:
        api.start()
        api.wait()
        for number in range(100):
            api.submit(ALICE, name=f"row {number}.")
        page = board(f"{api.url}/board", viewport={"width": 1200, "height": 900})
        expect(page.get_by_role("link", name=" row 0.")).to_be_visible()
        scroll = "(box, row) => { box.scrollTop = row * 74; }"
        box = page.locator(".scroll")
        page.route(re.compile("/v1/queue/jobs.*offset=45"), shorten, times=1)
        for first in (90, 30):
            with page.expect_response(re.compile(f"/v1/queue/jobs.*offset={first}&")):
                box.evaluate(scroll, first)
        expect(page.get_by_role("link", name=" row 30.")).to_be_visible()
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        for first in range(31, 60):
            box.evaluate(scroll, first)
            expect(page.get_by_role("link", name=f" row {first + 7}.")).to_be_visible()
        # In steps of several rows.
        offsets = [int(found[1]) for url in asked if (found := re.search(r"offset=(\d+)", url))]
        assert [offset for offset in offsets if offset % 15] == []


@pytest.mark.parametrize("step", ["..", ".", "%2e%2e"])
def test_an_address_of_no_job_is_that_of_the_queue(api, board, step):
    page = board(f"{api.url}/board#/job/{step}")
    expect(page.get_by_role("columnheader", name="Position")).to_be_visible()


def test_a_single_process_is_no_plural(api, board):
    job = api.submit(ALICE, size=1, cpu=[0.5])
    page = board(f"{api.url}/board#/job/{job['uuid']}")
    expect(page.locator(".profile")).to_contain_text("1 process, mean 50 %")


def test_names_are_texts(api, board):
    name = "<img src=x onerror=document.title=1><b>bold</b>"
    job = api.submit(ALICE, name=name)
    page = board(f"{api.url}/board")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", level=2)).to_have_text(f"{job['number']} {name}")
    assert page.locator("img").count() == 0
    assert not any(url.endswith("/x") for url in asked)


def test_a_narrow_dark_screen(api, board):
    job = api.submit(ALICE, name="narrow-" + 30 * "long", size=2)
    page = board(f"{api.url}/board", viewport={"width": 400, "height": 800}, color_scheme="dark")
    page.get_by_role("searchbox").fill("narrow")
    expect(page.get_by_role("row").filter(has_text="narrow")).to_be_visible()
    assert fits(page)
    page.goto(f"{api.url}/board#/job/{job['uuid']}")
    expect(page.get_by_role("heading", level=2)).to_be_visible()
    assert fits(page)
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", shade))) < 64


def test_the_cluster_over_time(api, board):
    write(api.store, month())
    told = api.ask("GET", "/v1/utilisation", ALICE)
    page = board(f"{api.url}/board")
    become(page, ALICE)
    page.get_by_role("link", name="Cluster").click()
    used = page.get_by_role("region", name="Foreground slots").get_by_role("row", name="Used").first
    cells = used.get_by_role("cell")
    shown = told["latest"]["foreground"]["used"], told["summary"]["foreground"]["most_used"]
    expect(cells.first).to_have_text(f"{shown[0]:.0f}")
    expect(cells.last).to_have_text(f"{shown[1]}")

    chart = page.get_by_role("application", name="Foreground slots over time")
    expect(chart.locator("canvas")).to_be_visible()
    assert hindrances(page) == []
    values = page.locator(".values")
    chart.press("End")
    expect(values).to_contain_text("open foreground slots used")
    for key in ("ArrowLeft", "Home", "ArrowRight", "End"):
        before = values.inner_text()
        chart.press(key)
        expect(values).not_to_have_text(before)
        expect(values).to_contain_text("open foreground slots used")

    # Half an hour without a manager is painted as a gap.
    plot = chart.locator(".u-over").bounding_box()
    for hours, known in ((7.25, False), (9, True)):
        x, y = plot["x"] + plot["width"] * (1 - hours / 24), plot["y"] + plot["height"] - 3
        page.mouse.move(x, y)
        said = "open foreground slots used" if known else "nothing was counted"
        expect(values).to_contain_text(said)
        page.mouse.move(0, 0)
        painted = chart.locator("canvas").evaluate(PAINTED, [x, y])
        assert painted is known, hours

    with page.expect_response(lambda answer: "last=3600" in answer.url and answer.ok):
        page.get_by_text("Hour", exact=True).click()
    with page.expect_response(
        lambda answer: answer.status == 304 and "/v1/utilisation" in answer.url
    ):
        pass

    narrow = board(
        f"{api.url}/board#/cluster", viewport={"width": 400, "height": 800}, color_scheme="dark"
    )
    expect(narrow.locator(".uplot canvas")).to_have_count(4)
    assert hindrances(narrow) == []
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 400
    # Its head stays in view: only what is below it is scrolled.
    assert narrow.evaluate("document.documentElement.scrollHeight") <= 800

    # A time at the right end has room for its label, of which dates are the widest.
    page.evaluate(WRITES)
    page.get_by_text("Month", exact=True).click()
    wait_for(lambda: page.evaluate("halves.length") > 8, "the charts of a month")
    chart = page.locator(".uplot").first
    canvas, plot = (chart.locator(each).bounding_box() for each in ("canvas", ".u-over"))
    beside = canvas["x"] + canvas["width"] - plot["x"] - plot["width"]
    assert beside >= page.evaluate("Math.max(...halves)")


def test_who_is_impossible_is_told_so(api, board):
    page = board(f"{api.url}/board")
    become(page, "eli:nobody-else")
    for impossible in ("", "two words"):
        page.get_by_label("You are").fill(impossible)
        page.get_by_role("button", name="Change").click()
        expect(page.get_by_role("alert")).to_contain_text("You are still eli:nobody-else.")
        assert hindrances(page) == []
    become(page, ALICE)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_what_is_expected_of_a_job(api, board):
    first, second, held = (api.submit("ana:expected", name=name) for name in ("one", "two", "held"))
    run(api.store, first, ["node1"])
    wait(api.store, second, waits.SLOTS(size=1, idle=0, open=0))
    predict(api, [second], first["number"])
    with api.store.transaction() as session:
        rows = session.query(Prediction).filter_by(job=second["number"])
        rows.update({"finish_low": None, "finish_high": None})
    api.ask("POST", f"/v1/jobs/{held['uuid']}/hold", "ana:expected")
    page = board(f"{api.url}/board")
    become(page, "ana:expected")
    rows = page.get_by_role("row")
    reason = rows.filter(has_text="two").locator(".c-reason")
    expect(reason).to_contain_text(f"expected in 7 min, when job {first['number']} leaves")
    expect(rows.filter(has_text="held until").locator(".c-start")).to_have_text(NOTHING)
    page.get_by_role("link", name="two").click()
    facts = page.get_by_role("region", name="Facts")
    expect(facts.locator("div", has_text="Expected start")).to_contain_text("(")
    expect(facts.locator("div", has_text="Expected end")).to_contain_text(re.compile(r"\d$"))


def test_jobs_of_a_project_in_any_order(api, board):
    for project in ("fluids", "genome"):
        for name in ("mesh", "assembly"):
            api.submit(f"eli:{project}", name=f"{name}-{project}")
    page = board(f"{api.url}/board")
    page.get_by_label("Project").select_option("genome")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("mesh-genome")
    header = page.get_by_role("columnheader", name="Position")
    expect(header).to_have_attribute("aria-sort", "ascending")
    header.get_by_role("button").press("Enter")
    expect(header).to_have_attribute("aria-sort", "descending")
    expect(rows.first).to_contain_text("assembly-genome")
    expect(header.get_by_role("button")).to_be_focused()
    page.get_by_role("searchbox").fill("MESH")
    expect(rows).to_have_count(1)
    page.get_by_label("Project").select_option("")
    expect(page.get_by_role("link", name="mesh-fluids")).to_be_visible()
    become(page, "eli:fluids")
    expect(page.get_by_label("Project")).to_have_count(0)
    expect(rows).to_have_count(1)


@pytest.mark.parametrize("theme", THEMES)
def test_nothing_hinders_people_with_disabilities(api, board, theme):
    """The views of slots have a test of their own."""
    job = api.submit(ALICE, name=f"accessible-{theme}", size=3)
    wait(api.store, job, waits.SLOTS(size=3, idle=1, open=0))
    running = api.submit(ALICE, name=f"running-{theme}")
    run(api.store, running, ["node1"])
    happen(api.store, running, "preempted", changes.PREEMPTED(job["number"]))
    page = board(f"{api.url}/board", color_scheme=theme)
    expect(page.get_by_role("link", name=job["name"])).to_be_visible()
    assert hindrances(page) == []
    page.get_by_text(re.compile(r"^All \d")).click()
    expect(page.get_by_role("link", name=running["name"])).to_be_visible()
    assert hindrances(page) == []
    for each in (job, running):
        page.goto(f"{api.url}/board#/job/{each['uuid']}")
        expect(page.get_by_role("heading", level=2)).to_contain_text(each["name"])
        expect(page.get_by_role("button", name="Cancel job")).to_be_visible()
        assert hindrances(page) == []
    page.get_by_role("button", name="Cancel job").click()
    assert hindrances(page) == []


def test_every_action_by_keyboard(api, board):
    job = api.submit(ALICE, name="keys", size=2)
    page = board(f"{api.url}/board")
    become(page, ALICE)
    expect(page.get_by_role("link", name="keys")).to_be_visible()
    reached = set()
    page.get_by_role("button", name="Skip").focus()
    link = page.get_by_role("link", name="keys")
    for _step in range(60):
        page.keyboard.press("Tab")
        what = page.evaluate("document.activeElement.innerText || document.activeElement.name")
        reached.add((what or "").split("\n")[0].strip(" ↑↓"))
        if link.evaluate("each => each === document.activeElement"):
            break
    headings = {"Position", "Job", "Size", "Tier", "Reason", "Start", "Evictions", "Age"}
    assert {"Queue", "Now", "Timeline", "Change", "phase", *headings} <= reached
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=2)).to_contain_text("keys")
    # The reader of the screen is at the new view, and its first control is the next one.
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Hold")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    page.get_by_role("button", name="Cancel job").press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert api.store.find(job["uuid"]).requested_action is None


def test_the_api_goes_away_and_comes_back(api, board):
    page = board(f"{api.url}/board")
    expect(page.get_by_role("region", name="Jobs")).to_be_visible()
    lost = page.get_by_text("Connection lost")
    expect(lost).to_have_count(0)
    api.stop()
    expect(lost).to_be_visible()
    api.start()
    api.wait()
    # The reader looks at the page again: it need not wait for the next of its rarer attempts.
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(lost).to_have_count(0)
    api.submit(ALICE, name="after-the-outage")
    expect(page.get_by_role("link", name="after-the-outage")).to_be_visible()


def test_without_a_ledger_no_connection_is_lost(api, board):
    """The board stays connected if only its request for the pools is answered with 503."""
    page, answered = board("about:blank"), []
    page.on("response", lambda answer: answered.append((answer.url, answer.status)))
    page.goto(f"{api.url}/board")
    wait_for(lambda: page.wait_for_timeout(50) or _of("pools", answered), "pools are asked for")
    count = len(_of("queue/jobs", answered))
    wait_for(
        lambda: page.wait_for_timeout(50) or len(_of("queue/jobs", answered)) > count + 1,
        "the queue is followed",
    )
    assert _of("pools", answered) == [503]
    expect(page.locator(".lost")).to_be_empty()


def _of(path, answered):
    return [status for url, status in answered if f"/v1/{path}" in url]


@pytest.mark.parametrize("status", [429, 503])
def test_an_operator_enters_while_the_api_cannot_answer(api, board, status):
    """An operator sees the jobs of all projects even if the API fails at first during the login."""
    theirs = api.submit(BOB, name=f"of-others-{status}")["name"]
    error = {"code": "twotier.passing", "detail": "it does not answer; try again later"}
    page = board("about:blank")
    page.route(
        re.compile("/v1/jobs.*all_projects=true"),
        lambda route: route.fulfill(status=status, json={"errors": [error]}),
        times=1,
    )
    page.goto(f"{api.url}/board")
    expect(page.get_by_text("it does not answer; try again later")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Own jobs first")).to_be_visible()
    page.get_by_role("searchbox").fill(theirs)
    expect(page.get_by_role("link", name=theirs)).to_be_visible()
    expect(page.get_by_text("it does not answer; try again later")).to_have_count(0)
