"""The views of slots in a browser, with a thousand hosts: what is painted, said and measured."""

import collections
import contextlib
import hashlib
import time

import pytest

from nova_twotier.db.models import Place
from tests.cloud.board_api import Api, happen
from tests.cloud.board_cluster import HOUR, Cluster, FakePlacement, host_name
from tests.cloud.browser import CHROMIUM, PATIENCE, THEMES, fits, hindrances
from tests.cloud.waiting import wait_for

playwright_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright_api.expect

pytestmark = [
    pytest.mark.cloud,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]

HOSTS, SLOTS, JOBS = 1000, 16, 10000
#: Pixels, as in now.js and tiles.js.
PAD, STEP, LABEL, MIDDLE = 8, 14, 16, 6
#: The same of gantt.js and lanes.js.
GUTTER, HEAD, HOST, SLOT, LANE = 132, 71, 9, 29, 12
AXIS, LINE = 24, 13
#: Requests for the schedule.
SCHEDULE = "**/v1/schedule?*"
#: Steps of the zoom until few minutes are in view.
CLOSER = 12
#: Counts what is painted, and keeps how long it took from an answer to what is painted of it.
WATCH = """
window.seen = {refreshes: [], long: [], rectangles: 0, first: null};
const keep = (kind, list) => new PerformanceObserver((found) => {
  const all = found.getEntries();
  const ours = all.filter(({name}) => kind !== "measure" || name === "board-refresh");
  list.push(...ours.map(({duration}) => duration));
}).observe({type: kind});
keep("measure", seen.refreshes);
keep("longtask", seen.long);
new PerformanceObserver((found) => {
  const [first] = found.getEntriesByName("board-first-paint");
  if (first) seen.first = first.duration;
}).observe({type: "measure"});
const fill = CanvasRenderingContext2D.prototype.fillRect;
CanvasRenderingContext2D.prototype.fillRect = function (...rectangle) {
  seen.rectangles += 1;
  return fill.apply(this, rectangle);
};
"""
PIXEL = """([x, y]) => {
  const canvas = document.querySelector("canvas.slots");
  const {data} = canvas.getContext("2d").getImageData(x, y, 1, 1);
  return "#" + [...data].slice(0, 3).map((each) => each.toString(16).padStart(2, "0")).join("");
}"""
COLOUR = """async ([number, scheme]) => {
  return (await import("/board/colours.js")).colourOf(number, scheme);
}"""
#: Keeps what is written from now on.
WRITTEN = """() => {
  window.written = [];
  const write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    written.push(text);
    return write.call(this, text, ...place);
  };
}"""
#: All that was to be painted is painted.
PAINTED = """() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => done()));
})"""
STYLE = "(name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"


class Some:
    """The jobs of the first host, and the API that tells of them and of those of all others."""

    def __init__(self, directory, stack):
        cluster = Cluster(HOSTS, SLOTS, full=0.35, jobs=JOBS)
        self.cluster = cluster
        self.solver = cluster.job(4, name="solver", project="demo")
        for process in range(4):
            cluster.stay(self.solver, process, -7 * HOUR, -HOUR, process, tier="bg")
            cluster.stay(self.solver, process, -HOUR, None, process)
        cluster.predict(self.solver, finish=cluster.now + HOUR)
        self.secret = cluster.job(2, name="secret", project="other")
        for process in range(2):
            cluster.stay(self.secret, 4 + process, -7 * HOUR, None, process)
        self.evicted = cluster.job(name="evicted", project="demo")
        cluster.stay(self.evicted, 6, -7 * HOUR, -3 * HOUR)
        cluster.stay(self.evicted, 6, -2 * HOUR, -0.5 * HOUR)
        cluster.stay(self.evicted, 7, -0.5 * HOUR)
        # Their times overlap.
        self.soon = cluster.waiting(0.3 * HOUR, name="soon", project="demo")
        self.later = cluster.waiting(0.4 * HOUR, name="later", project="other")
        placement = FakePlacement(HOSTS, SLOTS, {host_name(0): 3})
        stack.callback(placement.close)
        # Predictions are told as long as the manager lives.
        lease = {"lease": 86400}
        self.api = Api(directory, placement=placement.options, coordination=lease)
        stack.callback(self.api.close)
        self.api.start()
        cluster.write(self.api.store)
        self.api.wait()

    def begin(self, name, slot):
        """A job begins in a slot of the foreground, whose holder has ended. Returns its row."""
        job = self.api.submit("dora:fluids", name=name)
        now = time.time()
        with self.api.store.transaction() as session:
            held = session.query(Place).filter_by(
                host=host_name(0), tier="fg", slot=slot, until=None
            )
            held.update({"until": now})
            place = {"host": host_name(0), "tier": "fg", "slot": slot, "since": now, "process": 0}
            session.add(Place(job=job["number"], server=f"server-{slot}", **place))
        happen(self.api.store, job, "started")
        return job


@pytest.fixture(scope="module")
def some(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        yield Some(tmp_path_factory.mktemp("cluster"), stack)


@pytest.fixture
def view(browser, some):
    """Opens a view, as a `View`: `view("now")`. The test fails if the page has met an error.

    With `held`, only the first answer about stays arrives until `let_go` is called.
    """
    with contextlib.ExitStack() as stack:
        wrong = []

        def opened(name, scheme="light", width=1200, held=False):
            size = {"width": width, "height": 760}
            context = browser.new_context(locale="en-GB", color_scheme=scheme, viewport=size)
            stack.callback(context.close)
            context.add_init_script(WATCH)
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            page.on("pageerror", lambda error: wrong.append(error.stack or str(error)))
            shown = View(page, scheme, some.cluster.now)
            if held:
                page.route(SCHEDULE, shown.hold)
            page.goto(f"{some.api.url}/board#/{name}")
            if name != "queue":
                shown.canvas.wait_for()
            return shown

        yield opened
        assert wrong == []


class View:
    """A view of slots in a page.

    :param written: when the jobs were written.
    """

    def __init__(self, page, scheme, written):
        self.page, self.scheme = page, scheme
        self._written = written
        self._recorded, self._held, self._gone = 0, [], False
        self.told = page.locator(".told")
        self.canvas = page.locator("canvas.slots")

    def hold(self, route):
        """Keep a request for stays back, unless it is the first or they are let go."""
        self._recorded += "part=recorded" in route.request.url
        if self._recorded > 1 and not self._gone:
            self._held.append(route)
        else:
            route.continue_()

    def let_go(self):
        """The first answer was not all; the others may arrive."""
        wait_for(lambda: self.page.evaluate("1") and self._held, "more is asked for")
        self._gone = True
        for route in self._held:
            route.continue_()

    def pixel(self, point):
        return self.page.evaluate(PIXEL, list(map(round, point)))

    def colour(self, job):
        return self.page.evaluate(COLOUR, [job["number"], self.scheme])

    def style(self, name):
        return self.page.evaluate(STYLE, f"--{name}")

    def around(self, point):
        """The colour of most pixels beside a point: a line of the time axis may run through it."""
        x, y = point
        colours = collections.Counter(self.pixel((x + across, y)) for across in range(-2, 3))
        return colours.most_common(1)[0][0]

    def shows(self, point, colour):
        wait_for(lambda: self.around(point) == colour, f"{colour} at {point}")

    def at(self, point):
        x, y = point
        return {"position": {"x": x, "y": y}}

    def x(self, hours):
        """Of a time so many hours from when the jobs were written, as the timeline begins."""
        return self.present(hours - (time.time() - self._written) / HOUR)

    def present(self, hours=0.0):
        """Of now, or of a time so many hours from now, as the timeline begins."""
        width = self.canvas.bounding_box()["width"] - GUTTER
        return GUTTER + width * (2 / 3 + hours / 6)

    def whole(self):
        """Everything has been read."""
        expect(self.told).to_contain_text("Point at")

    def forget(self):
        self.page.evaluate(PAINTED)
        self.page.evaluate("seen.refreshes.length = 0; seen.long.length = 0; seen.rectangles = 0;")

    def seen(self):
        return self.page.evaluate("seen")


def cell(slot, row=0):
    return PAD + slot * STEP + MIDDLE, PAD + LABEL + row * STEP + MIDDLE


def lane(slot, row=0):
    return HEAD + HOST + slot * SLOT + row * LANE + LANE / 2


def line_of_waiting(number):
    return AXIS + 4 + number * LINE + LINE / 2


def report(name, view):
    """Prints what was measured: nothing is asserted of times, since machines may be busy.

    Begin of the first paint is the navigation to the page, which loads all of its files.
    """
    wait_for(lambda: view.seen()["refreshes"], "it is told what was painted anew")
    seen = view.seen()
    print(
        f"\n{name}: first paint of data after {seen['first']:.0f} ms; of the last refresh "
        f"{max(seen['refreshes']):.1f} ms from the answer to the painting, "
        f"longest task {max(seen['long'], default=0):.0f} ms (0: below 50), "
        f"{seen['rectangles']} rectangles painted"
    )
    return seen


def test_now(some, view):
    now = view("now", held=True)
    solver = now.colour(some.solver)
    # What is in view is painted before the rest has arrived.
    now.shows(cell(0), solver)
    now.shows(cell(3), solver)
    now.let_go()
    # Free places are known when the hosts have been read.
    now.shows(cell(15), now.style("place"))
    assert now.pixel(cell(4)) == now.colour(some.secret)
    assert now.pixel(cell(8)) == now.pixel(cell(0, row=1)) == now.style("place")
    # Lines across the last of the free places.
    x, y = cell(15, row=1)
    closed = {now.pixel((x + across, y)) for across in range(-4, 5)}
    assert len(closed) > 1
    assert len({now.pixel((cell(8, 1)[0] + across, y)) for across in range(-4, 5)}) == 1

    now.canvas.hover(**now.at(cell(2)))
    expect(now.told).to_contain_text(
        f"Job {some.solver['number']} solver, process 2, foreground of slot 2 of host node0000"
    )
    now.canvas.hover(**now.at(cell(15, row=1)))
    expect(now.told).to_contain_text("Closed: background of slot 15 of host node0000")
    now.canvas.hover(**now.at(cell(8)))
    now.canvas.press("ArrowLeft")
    expect(now.told).to_contain_text("evicted")
    now.canvas.press("Tab")

    now.page.mouse.move(0, 0)
    now.whole()
    expect(now.page.locator(".legend")).to_contain_text("1000 hosts")
    now.forget()
    began = some.begin("newcomer", 12)
    now.shows(cell(12), now.colour(began))
    seen = report("Now", now)
    assert seen["rectangles"] < SLOTS
    now.page.locator("summary").click()
    expect(now.page.locator("details")).to_contain_text("newcomer")

    now.canvas.click(**now.at(cell(2)))
    expect(now.page).to_have_url(f"{some.api.url}/board#/job/{some.solver['uuid']}")


def test_a_job_by_keyboard_in_the_dark_on_a_small_screen(some, view):
    now = view("now", scheme="dark", width=400)
    now.shows(cell(0), now.colour(some.solver))
    assert now.colour(some.solver) != now.page.evaluate(COLOUR, [some.solver["number"], "light"])
    now.canvas.focus()
    now.page.keyboard.press("ArrowRight")
    expect(now.told).to_contain_text("solver, process 0")
    now.page.keyboard.press("ArrowRight")
    expect(now.told).to_contain_text("solver, process 1")
    now.page.keyboard.press("ArrowDown")
    expect(now.told).to_contain_text("Free: background of slot 1")
    now.page.keyboard.press("ArrowUp")
    now.page.keyboard.press("Enter")
    expect(now.page).to_have_url(f"{some.api.url}/board#/job/{some.solver['uuid']}")


def test_keys_do_not_wait_for_the_painting(some, view):
    now = view("now")
    now.shows(cell(0), now.colour(some.solver))
    now.whole()
    now.page.evaluate("window.requestAnimationFrame = () => 1")
    now.page.get_by_role("searchbox").fill("solver")
    expect(now.page.locator(".legend")).to_contain_text("1 host")
    now.canvas.press("ArrowRight")
    expect(now.told).to_contain_text("solver, process 0")


def test_the_last_host_is_reached_by_scrolling(some, view):
    now = view("now")
    expect(now.page.locator(".legend")).to_contain_text(f"{HOSTS} hosts")
    now.shows(cell(0), now.colour(some.solver))
    now.canvas.hover(**now.at(cell(0)))
    now.page.mouse.wheel(0, 1_000_000)
    now.page.locator("summary").click()
    expect(now.page.locator("details")).to_contain_text(host_name(HOSTS - 1))
    # Whatever is in view there.
    height = int(now.canvas.bounding_box()["height"])
    found = {now.pixel((PAD + MIDDLE, y)) for y in range(height // 2, height, 5)}
    assert len(found) > 1


def test_a_tenant_sees_no_jobs_of_others(some, view):
    now = view("now")
    now.page.get_by_label("You are").fill("alice:demo")
    now.page.get_by_role("button", name="Change").click()
    host = hashlib.sha224(f"demo{host_name(0)}".encode()).hexdigest()
    now.page.get_by_role("searchbox").fill(host)
    expect(now.page.locator(".legend")).to_contain_text("1 host")
    now.shows(cell(0), now.colour(some.solver))
    assert now.pixel(cell(4)) == now.style("foreign")
    now.canvas.hover(**now.at(cell(4)))
    expect(now.told).to_contain_text("A job of another project with 2 processes, foreground of")
    now.canvas.click(**now.at(cell(4)))
    expect(now.page).to_have_url(f"{some.api.url}/board#/now")
    now.page.get_by_role("searchbox").fill("solver")
    foreign, back = now.style("foreign"), now.style("back")
    wait_for(lambda: now.pixel(cell(4)) not in (foreign, back), "what is not looked for is pale")
    now.shows(cell(0), now.colour(some.solver))


def test_queue(some, view):
    queue = view("queue")
    page = queue.page
    waiting = some.api.ask("GET", "/v1/queue?all_projects=true", "admin")["jobs"]["queued"]
    expect(page.get_by_text(f"Waiting {waiting}")).to_be_visible()
    rows = page.locator("tbody tr:not(.space)")
    expect(rows.first.locator(".c-position")).to_have_text("1")
    page.get_by_role("region", name="Jobs").evaluate("box => box.scrollTo(0, box.scrollHeight)")
    expect(rows.last.locator(".c-position")).to_have_text(str(waiting))
    assert rows.count() < 100
    page.get_by_role("button", name="Job", exact=True).click()
    page.get_by_role("button", name="Job", exact=True).click()
    latest = "/v1/queue/jobs?all_projects=true&phase=waiting&sort_key=number&sort_dir=desc&limit=1"
    [one] = some.api.ask("GET", latest, "admin")["jobs"]
    expect(rows.first).to_contain_text(f"{one['number']} {one['name']}")
    one = some.cluster.last_waiting
    page.get_by_role("searchbox").fill(one["uuid"])
    expect(rows.first).to_contain_text(one["name"])
    expect(rows).to_have_count(1)
    page.get_by_role("searchbox").fill("")
    queue.forget()
    some.api.submit("dora:fluids", name="last-of-all")
    expect(page.get_by_role("link", name="last-of-all")).to_be_visible()
    report("Queue", queue)


@pytest.mark.parametrize("theme", THEMES)
def test_nothing_hinders_people_with_disabilities(some, view, theme):
    for name in ("now", "timeline"):
        shown = view(name, scheme=theme, width=400)
        shown.whole()
        shown.page.locator("summary").click()
        expect(shown.page.locator("details tbody tr").first).to_be_visible()
        assert hindrances(shown.page) == []
        assert fits(shown.page)


def test_the_hosts_of_a_project(some, view):
    now = view("now")
    now.shows(cell(0), now.colour(some.solver))
    now.page.get_by_label("Project").select_option("demo")
    expect(now.page.locator(".legend")).to_contain_text("1 host")
    now.shows(cell(0), now.colour(some.solver))
    others = now.colour(some.secret), now.style("back")
    wait_for(lambda: now.pixel(cell(4)) not in others, "the jobs of other projects are pale")
    now.page.get_by_role("link", name="Queue").click()
    expect(now.page.get_by_label("Project")).to_have_value("demo")


def test_timeline(some, view):
    line = view("timeline", held=True)
    solver, evicted = line.colour(some.solver), line.colour(some.evicted)
    line.shows((line.x(-0.1), lane(0)), solver)
    line.shows((line.x(-1.5), lane(0, row=1)), solver)
    line.let_go()
    back = line.style("back")
    line.shows((line.x(-1.5), lane(0)), back)
    line.shows((line.x(-0.1), lane(0, row=1)), back)
    # Until it was evicted, while it was suspended, and since then.
    for at, colour in {-3.2: evicted, -1.1: evicted, -2.5: back}.items():
        line.shows((line.x(at), lane(6)), colour)
    paler = line.around((line.x(0.7), lane(0)))
    assert paler not in (solver, back)
    present = {line.pixel((line.present() + across, lane(9))) for across in range(-6, 7)}
    assert line.style("accent") in present

    line.canvas.hover(**line.at((line.x(-1.2), lane(2, row=1))))
    expect(line.told).to_contain_text(f"Job {some.solver['number']} solver, process 2")
    expect(line.told).to_contain_text("then swapped to the foreground of slot 2 of host node0000")
    line.canvas.hover(**line.at((line.x(-3.1), lane(6))))
    expect(line.told).to_contain_text("then evicted")
    line.canvas.hover(**line.at((line.x(-0.8), lane(6))))
    expect(line.told).to_contain_text("then moved to the foreground of slot 7")

    line.page.mouse.move(0, 0)
    line.whole()
    line.forget()
    began = some.begin("newer", 13)
    wait_for(lambda: line.seen()["refreshes"], "nothing is painted anew")
    report("Timeline", line)
    # It has held its slot for seconds: they have some pixels if the time is zoomed in.
    for _step in range(CLOSER):
        line.canvas.press("+")
    line.shows((line.present() - 6, lane(13)), line.colour(began))
    for _step in range(CLOSER):
        line.canvas.press("-")
    line.page.locator("summary").click()
    expect(line.page.locator("details")).to_contain_text("solver, process 0")
    line.page.locator("summary").click()

    # What was an hour ago moves to the left when the time is zoomed in, and back again.
    gap = line.x(-2.3), lane(6)
    line.shows(gap, back)  # closing the table may have changed the size of the canvas
    line.canvas.press("+")
    line.shows(gap, evicted)
    line.canvas.press("-")
    line.shows(gap, back)
    line.canvas.hover(**line.at((line.present(), lane(6))))
    line.page.mouse.wheel(0, -300)
    line.shows(gap, evicted)
    line.page.mouse.wheel(0, 300)
    line.shows(gap, back)
    line.page.get_by_role("button", name="Later").click()
    line.shows((line.x(-2.6 - 0.9), lane(6)), back)
    line.canvas.press("Home")
    line.shows(gap, back)
    line.canvas.press("ArrowLeft")
    line.shows((line.x(-2.6 + 0.9), lane(6)), back)
    box = line.canvas.bounding_box()
    line.page.mouse.move(box["x"] + 700, box["y"] + 300)
    line.page.mouse.down()
    line.page.mouse.move(box["x"] + 700 - (line.x(0) - line.x(-0.9)), box["y"] + 300, steps=3)
    line.page.mouse.up()
    line.shows(gap, back)
    line.shows((line.x(-1.1), lane(6)), evicted)
    line.canvas.click(**line.at((line.x(-1.1), lane(6))))
    expect(line.page).to_have_url(f"{some.api.url}/board#/job/{some.evicted['uuid']}")


def test_what_is_looked_for_and_not_found(view):
    page = view("now").page
    for name in ("Now", "Timeline"):
        page.get_by_role("link", name=name).click()
        page.get_by_placeholder("Number, name, host").fill("no such thing")
        expect(page.get_by_text("No host or job matches.")).to_be_visible()
        assert hindrances(page) == []
    # Nothing can be found in charts.
    page.get_by_role("link", name="Cluster").click()
    expect(page.get_by_role("searchbox")).to_have_count(0)
    page.get_by_role("link", name="Queue").click()
    expect(page.get_by_placeholder("Number, name, user, reason")).to_have_value("no such thing")


def test_the_api_is_away_when_a_view_is_opened(some, view):
    page = view("queue").page
    expect(page.locator("tbody .c-job").first).to_be_visible()
    lost, ledger = page.get_by_text("Connection lost. Trying again…"), page.get_by_text("ledger")
    some.api.stop()
    try:
        for name in ("Now", "Timeline", "Now"):
            page.get_by_role("link", name=name).click()
            expect(lost).to_be_visible()
            expect(page.locator(".told")).to_contain_text("Reading the schedule")
            expect(ledger).to_have_count(0)
        page.get_by_role("link", name="Queue").click()
        expect(page.get_by_text("Reading the jobs…")).to_be_visible()
        page.get_by_role("link", name="Now").click()
    finally:
        some.api.start()
        some.api.wait()
    # The reader looks at the page again: it need not wait for the next of its rarer attempts.
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator(".legend")).to_contain_text(f"{HOSTS} hosts")
    expect(page.locator(".told")).to_contain_text("Point at")
    expect(page.get_by_text("Connection lost")).to_have_count(0)
    expect(ledger).to_have_count(0)


def test_the_ledger_is_away_for_a_while(view):
    page = view("queue").page
    error = {"code": "twotier.service.unavailable", "status": 503, "detail": "it does not answer"}
    page.route("**/v1/hosts?*", lambda route: route.fulfill(status=503, json={"errors": [error]}))
    page.clock.install()
    page.get_by_role("link", name="Now").click()
    ledger = page.get_by_text("Only hosts with jobs: the ledger does not answer.")
    expect(ledger).to_be_visible()
    expect(page.get_by_text("Connection lost")).to_have_count(0)
    page.unroute("**/v1/hosts?*")
    page.clock.fast_forward(30_000)
    expect(ledger).to_have_count(0)
    expect(page.locator(".legend")).to_contain_text(f"{HOSTS} hosts")


def test_a_proxy_has_no_patience_with_the_api(view):
    """It is not the connection that is lost; the board goes on asking, without the reader."""
    page = view("queue").page
    expect(page.locator("tbody .c-job").first).to_be_visible()
    late = {"status": 504, "content_type": "text/html", "body": "<h1>504 Gateway Time-out</h1>"}
    page.route("**/v1/**", lambda route: route.fulfill(**late))
    page.clock.install()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    told = page.get_by_text("The server did not answer in time. What you see is old; trying again…")
    expect(told).to_be_visible()
    expect(page.get_by_text("Connection lost")).to_have_count(0)
    for _attempt in range(2):
        with page.expect_request("**/v1/**"):
            page.clock.fast_forward(60_000)
    expect(told).to_be_visible()
    # A view that is opened meanwhile waits for its first answer as well.
    page.get_by_role("link", name="Now").click()
    expect(page.get_by_text("The server did not answer in time. Trying again…")).to_be_visible()
    page.unroute("**/v1/**")
    page.clock.fast_forward(60_000)
    expect(page.locator(".legend")).to_contain_text(f"{HOSTS} hosts")
    expect(page.get_by_text("did not answer in time")).to_have_count(0)


def test_the_timeline_looks_for_waiting_jobs(some, view):
    line = view("timeline")
    back = line.style("back")
    soon, later = ((line.x(1.2), line_of_waiting(number)) for number in range(2))
    wait_for(lambda: back not in map(line.around, (soon, later)), "no waiting jobs are painted")
    colours = line.around(soon), line.around(later)
    line.canvas.hover(**line.at(later))
    expect(line.told).to_contain_text(f"Job {some.later['number']} later, 4 processes")
    line.page.mouse.move(0, 0)

    def only_soon():
        now = line.around(soon), line.around(later)
        return now[0] == colours[0] and now[1] not in (colours[1], back)

    search = line.page.get_by_role("searchbox")
    search.fill("soon")
    wait_for(only_soon, "the waiting job that is not looked for is not pale")
    search.fill("later")
    expect(line.page.get_by_text("No host matches.")).to_be_visible()
    search.fill("")
    wait_for(lambda: line.around(later) == colours[1], "it is still pale")
    line.page.get_by_label("Project").select_option("demo")
    wait_for(only_soon, "the waiting job of another project is not pale")


def test_the_timeline_does_not_say_that_no_job_waits_if_none_starts_in_view(view):
    timeline = view("timeline")
    timeline.whole()
    timeline.page.evaluate(WRITTEN)
    earlier = timeline.page.get_by_role("button", name="Earlier")
    for _each in range(CLOSER):
        earlier.click()
    wait_for(lambda: "No start in view" in timeline.page.evaluate("written"), "what is in view")
    timeline.page.get_by_role("button", name="Now: back").click()
    # The first texts may still be of what was in view before the click.
    wait_for(
        lambda: (
            (texts := timeline.page.evaluate("written.splice(0)"))
            and "No start in view" not in texts
        ),
        "the present is painted",
    )


def test_the_timeline_says_that_more_jobs_wait_than_it_reads(view):
    timeline = view("timeline")
    timeline.whole()
    timeline.page.evaluate(WRITTEN)
    says = r"(title) => written.some((text) => new RegExp(title).test(text))"
    zoom_out = timeline.page.get_by_role("button", name="Zoom out")
    zoom_in = timeline.page.get_by_role("button", name="Zoom in")
    for _each in range(CLOSER):
        zoom_out.click()
    wait_for(
        lambda: timeline.page.evaluate(says, r"^Waiting, \d+\+ more$"), "others wait, not counted"
    )
    for _each in range(CLOSER):
        zoom_in.click()
    timeline.page.evaluate(PAINTED)
    timeline.page.evaluate("written.length = 0")
    zoom_in.click()
    wait_for(lambda: timeline.page.evaluate(says, "^Waiting"), "the jobs that wait")
    assert not timeline.page.evaluate(says, r"^Waiting.*\+"), "all of those in view are read"
