"""The ways into the board in a browser: passwords, single sign-on and the command line."""

import contextlib
import threading

import pytest
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from nova_twotier.client import board as client_board
from nova_twotier.client import rest
from tests.cloud.board_api import Api
from tests.cloud.browser import CHROMIUM, THEMES, hindrances
from tests.cloud.fake_keystone import FakeKeystone

playwright_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright_api.expect

pytestmark = [
    pytest.mark.cloud,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]

#: What the page has left in the browser.
KEPT = "() => [localStorage.length, sessionStorage.length, document.cookie]"


@pytest.fixture(scope="module")
def keystone():
    users = (
        ("twotier", "service-secret", "service", ["admin"]),
        ("alice", "correct horse", "demo", ["member", "reader"]),
        ("olga", "correct horse", "operations", ["admin", "member", "reader"]),
    )
    fake = FakeKeystone(*users, member="alice", projects=["demo", "other"])
    with contextlib.closing(fake) as found:
        yield found


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, keystone):
    """The API with tokens that Keystone validates."""
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
    api = Api(
        tmp_path_factory.mktemp("keystone"),
        "keystone",
        keystone_authtoken=login,
        api={"board_websso": "acme/openid:ACME"},
    )
    keystone.trusted.add(f"{api.url}/board")
    with contextlib.closing(api):
        api.start()
        api.wait()
        yield api


@pytest.mark.parametrize("theme", THEMES)
def test_nothing_hinders_people_with_disabilities(guarded, board, theme):
    page = board(f"{guarded.url}/board", color_scheme=theme)
    expect(page.get_by_role("button", name="Log in", exact=True)).to_be_visible()
    assert hindrances(page) == []


def log_in(page, password, user="alice"):
    page.get_by_label("User").fill(user)
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


def test_what_was_chosen_lasts_until_the_reader_logs_out(guarded, keystone, board):
    for project in ("demo", "chosen"):
        guarded.store.submit(1, [], project_id=project, user_id="alice", name=f"of-{project}")
    page = board(f"{guarded.url}/board")
    log_in(page, "correct horse", "olga")
    project = page.get_by_role("combobox", name="Project")
    search = page.get_by_role("searchbox")
    project.select_option("chosen")
    search.fill("OF-")
    keystone.tokens.clear()
    expect(page.get_by_text("Log in again to go on here")).to_be_visible()
    log_in(page, "correct horse", "olga")
    expect(page.get_by_role("link", name="of-chosen")).to_be_visible()
    expect(project).to_have_value("chosen")
    expect(search).to_have_value("OF-")
    page.get_by_role("button", name="Log out").click()
    log_in(page, "correct horse", "olga")
    expect(page.get_by_role("link", name="of-demo")).to_be_visible()
    expect(project).to_have_value("")
    expect(search).to_have_value("")


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
