"""The board in a browser, on a real API."""

import contextlib
import re
import threading

import pytest
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from nova_twotier.client import board as client_board
from nova_twotier.client import rest
from nova_twotier.core.reasons import changes, waits
from tests.cloud.board_api import Api, happen, run, wait
from tests.cloud.board_history import month, write
from tests.cloud.browser import CHROMIUM, THEMES, fits, hindrances, launched
from tests.cloud.fake_keystone import FakeKeystone

playwright_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright_api.expect

pytestmark = [
    pytest.mark.cloud,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]

ALICE, BOB = "alice:demo", "bob:other"
#: Whether an area is painted at a point of the page in a chart; a line of its grid is none.
PAINTED = """(canvas, [x, y]) => {
  const {left, top} = canvas.getBoundingClientRect();
  const {data} = canvas.getContext("2d").getImageData(x - left - 2, y - top, 5, 1);
  return [3, 7, 11, 15, 19].every((at) => data[at] > 0);
}"""
PATIENCE = 30000
#: What the page has left in the browser.
KEPT = "() => [localStorage.length, sessionStorage.length, document.cookie]"


@pytest.fixture(scope="module")
def browser():
    expect.set_options(timeout=PATIENCE)
    with playwright_api.sync_playwright() as playwright, launched(playwright) as started:
        yield started


@pytest.fixture(scope="module")
def keystone():
    users = (
        ("twotier", "service-secret", "service", ["admin"]),
        ("alice", "correct horse", "demo", ["member", "reader"]),
    )
    fake = FakeKeystone(*users, member="alice", projects=["demo", "other"])
    with contextlib.closing(fake) as found:
        yield found


@pytest.fixture(scope="module")
def apis(tmp_path_factory, keystone):
    """One without passwords, and one whose tokens Keystone validates."""
    login = {
        "auth_type": "password",
        "auth_url": keystone.url,
        "www_authenticate_uri": keystone.url,
        "username": "twotier",
        "password": "service-secret",
        "user_domain_name": "Default",
        "project_name": "service",
        "project_domain_name": "Default",
        # So that a revoked token is refused at once.
        "token_cache_time": -1,
    }
    with contextlib.ExitStack() as stack:
        found = (
            Api(tmp_path_factory.mktemp("noauth")),
            Api(
                tmp_path_factory.mktemp("keystone"),
                "keystone",
                keystone_authtoken=login,
                api={"board_websso": "acme/openid:ACME"},
            ),
        )
        keystone.trusted.add(f"{found[1].url}/board")
        for each in found:
            stack.callback(each.close)
            each.start()
        for each in found:
            each.wait()
        yield found


@pytest.fixture(scope="module")
def api(apis):
    return apis[0]


@pytest.fixture(scope="module")
def guarded(apis):
    return apis[1]


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
    assert page.url.endswith(f"/board#/job/{job['uuid']}")

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

    def allowed():
        with page.expect_request(lambda request: "/v1/queue/jobs?" in request.url) as asked:
            pass
        return asked.value.headers.get("cache-control", "")

    assert "max-stale" in allowed()
    page.get_by_role("link", name="changed").click()
    page.get_by_role("button", name="Hold").click()
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    page.get_by_role("link", name="Queue", exact=True).click()
    assert "max-stale" not in allowed()
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
    answers = []
    page.on("response", lambda answer: answers.append(answer))
    page.get_by_text(re.compile("^All ")).click()
    page.get_by_role("link", name="victim").click()
    expect(page.get_by_role("main")).to_contain_text("preempted by a job of another project")
    page.goto(f"{api.url}/board#/job/{theirs['uuid']}")
    expect(page.get_by_text("there is no such job in your project")).to_be_visible()
    texts = [answer.text() for answer in answers if "/v1/" in answer.url and answer.ok]
    assert any("victim" in text for text in texts)
    for secret in ("confidential", "bob", theirs["uuid"], "node-of-"):
        assert not any(secret in text for text in texts), secret


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
def test_nothing_hinders_people_with_disabilities(api, guarded, board, theme):
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
    login = board(f"{guarded.url}/board", color_scheme=theme)
    expect(login.get_by_role("button", name="Log in", exact=True)).to_be_visible()
    assert hindrances(login) == []


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


def log_in(page, password):
    page.get_by_label("User").fill("alice")
    page.get_by_label("Password", exact=True).and_(page.locator("[type=password]")).fill(password)
    page.get_by_role("button", name="Log in", exact=True).click()


def test_a_login_and_its_end(guarded, keystone, board):
    job = guarded.store.submit(1, [], project_id="demo", user_id="alice", name="mine")
    guarded.store.submit(1, [], project_id="other", user_id="bob", name="theirs")
    page = board(f"{guarded.url}/board#/job/{job.uuid}")
    log_in(page, "wrong")
    expect(page.get_by_role("alert")).to_contain_text("does not let you in")
    log_in(page, "correct horse")
    expect(page.get_by_role("heading", level=2)).to_have_text(f"{job.number} mine")
    assert page.evaluate(KEPT) == [0, 0, ""]
    page.get_by_role("link", name="Queue").click()
    expect(page.get_by_role("link", name="mine")).to_be_visible()
    assert page.get_by_text("theirs").count() == 0
    page.go_back()
    keystone.tokens.clear()
    expect(page.get_by_text("Log in again to go on here")).to_be_visible()
    assert page.url.endswith(f"#/job/{job.uuid}")
    log_in(page, "correct horse")
    expect(page.get_by_role("heading", level=2)).to_have_text(f"{job.number} mine")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("User")).to_be_visible()
    for secret in ("correct horse", *keystone.tokens):
        assert secret not in guarded.logged


def test_a_single_sign_on(guarded, keystone, board):
    job = guarded.store.submit(1, [], project_id="demo", user_id="alice", name="signed-on")
    page = board(f"{guarded.url}/board#/job/{job.uuid}")
    asked = []
    page.on("request", lambda request: asked.append((request.method, request.url)))
    page.get_by_role("button", name="Log in with ACME").click()
    page.get_by_role("combobox", name="Project").select_option("demo")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", level=2)).to_have_text(f"{job.number} signed-on")
    expect(page.get_by_text("alice, project demo")).to_be_visible()
    assert page.url == f"{guarded.url}/board#/job/{job.uuid}"
    assert page.evaluate(KEPT) == [0, 0, ""]
    assert page.evaluate("document.body.dataset.token") is None
    assert ("POST", f"{guarded.url}/board") in asked
    for token in keystone.tokens:
        assert token not in guarded.logged
        assert not any(token in url for _method, url in asked)
    # It is not sent once more.
    asked.clear()
    page.reload()
    expect(page.get_by_role("button", name="Log in with ACME")).to_be_visible()
    assert asked[0][0] == "GET"


def test_a_single_sign_on_that_the_page_did_not_ask_for(guarded, keystone, board):
    page = board("about:blank")
    # An attacker's page has the browser do this, with a session of the attacker's.
    sso = f"{keystone.url}/auth/OS-FEDERATION/identity_providers/acme/protocols/openid/websso"
    page.goto(f"{sso}?origin={guarded.url}/board")
    expect(page.get_by_text("did not ask for that login")).to_be_visible()
    expect(page.get_by_role("button", name="Log in", exact=True)).to_be_visible()
    assert page.evaluate("document.body.dataset.token") is None


@pytest.fixture
def command(guarded, keystone):
    """What `openstack twotier board` serves, for alice of the project demo."""
    domain = {"user_domain_name": "Default", "project_domain_name": "Default"}
    login = v3.Password(
        keystone.url, username="alice", password="correct horse", project_name="demo", **domain
    )
    with client_board.Server(rest.Api(Session(login), guarded.url)) as server:
        threading.Thread(target=server.serve_forever).start()
        yield server
        server.shutdown()


def test_the_board_of_the_command_line(guarded, command, board):
    job = guarded.store.submit(1, [], project_id="demo", user_id="alice", name="by-command")
    page = board(command.url)
    presented = set()
    page.on(
        "request",
        lambda request: presented.add(request.headers.get("x-auth-token", command.secret)),
    )
    expect(page.get_by_text("alice, project demo")).to_be_visible()
    page.get_by_role("link", name="by-command").click()
    page.get_by_role("button", name="Hold").click()
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    assert guarded.store.find(job.uuid).held
    assert command.secret not in page.url
    page.reload()
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    # What the browser sends is the secret of the page, not the token.
    assert presented == {command.secret}

    lost = page.get_by_text("Connection lost")
    expect(lost).to_have_count(0)
    guarded.stop()
    expect(lost).to_be_visible()
    guarded.start()
    guarded.wait()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(lost).to_have_count(0)

    # Another user of this machine knows the port, but not the secret.
    other = board(command.url.partition("#")[0])
    expect(other.get_by_text("Open the address")).to_be_visible()


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
