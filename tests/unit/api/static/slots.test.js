// The modules of the board that know no page: where what is, whose it is and how it looks.
import assert from "node:assert/strict";
import {test} from "node:test";
import {channels, colourOf, inkOn, luminance, mixed} from "./static/colours.js";
import {arrangeLanes, laneAt, packed, visibleSlots} from "./static/lanes.js";
import {joined, panned, pixelOf, ticks, timeOf, wanted, zoomed, LONGEST} from "./static/span.js";
import {shown, standsOut} from "./static/selection.js";
import {Stays, endOf, matches, within} from "./static/stays.js";
import {arrange, beside, cellAt, changedIn, closedPlaces, hit, roomIn, visible} from "./static/tiles.js";

const HOUR = 3600_000;
const UUIDS = Array.from({length: 400}, (_, number) => `5e0f7b6c-0f5a-4c7a-9d0e-${String(number).padStart(12, "0")}`);
const BACKS = {light: "#ffffff", dark: "#14181d"};

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function row(from, to, values = {}) {
  return {
    host: "node1", tier: "fg", slot: 0, from: at(from), to: to === null ? null : at(to), predicted_to: null,
    size: 1, pool: "default", process: 0, job: job(1), ...values,
  };
}

function job(number, name = `job-${number}`) {
  return {number, uuid: UUIDS[number], name, project_id: "demo", array: null};
}

function at(hour) {
  return new Date(hour * HOUR).toISOString();
}

test("A job has one colour in each scheme, which stands out from the page and from its label", () => {
  for (const [scheme, back] of Object.entries(BACKS)) {
    for (let number = 1; number <= 100; number += 1) {
      const colour = colourOf(number, scheme);
      assert.match(colour, /^#[0-9a-f]{6}$/);
      assert.ok(contrast(colour, back) >= 1.7, `${colour} on ${back}`);
      assert.ok(contrast(colour, inkOn(colour)) >= 4.5, `${inkOn(colour)} on ${colour}`);
    }
  }
});

test("Jobs of the next numbers have other colours", () => {
  for (const scheme of Object.keys(BACKS)) {
    for (const first of [1, 30, 12345]) {
      const colours = Array.from({length: 36}, (_, number) => colourOf(first + number, scheme));
      assert.equal(new Set(colours).size, 36);
    }
  }
});

test("A mixed colour lies between both", () => {
  assert.equal(mixed("#ff0000", "#0000ff", 1), "#ff0000");
  assert.deepEqual(channels(mixed("#ff0000", "#0000ff", 0.2)), [51, 0, 204]);
});

test("Stays are in order by lane, whichever way they come, and each is known once", () => {
  const stays = new Stays();
  assert.equal(stays.add([row(3, null), row(1, 2), row(1, 2, {slot: 2})]).size, 2);
  assert.equal(stays.add([row(1, 2)]).size, 0);
  assert.equal(stays.count, 3);
  const [lane, empty] = stays.lanes("node1", "fg");
  assert.deepEqual(lane.stays.map((stay) => stay.begin / HOUR), [1, 3]);
  assert.deepEqual(empty.stays, []);
  assert.equal(stays.holder("node1", "fg", 0), lane.stays[1]);
  assert.equal(stays.holder("node1", "fg", 2), null);
  assert.equal(stays.holder("node2", "bg", 0), null);
  assert.equal(stays.latest, 3 * HOUR);
});

test("What ends is brought up to date, or ends when the next begins", () => {
  const stays = new Stays();
  stays.add([row(1, null), row(1, null, {slot: 1})]);
  assert.equal(stays.add([row(1, 2)]).size, 1);
  stays.add([row(4, null, {slot: 1, job: job(2)})]);
  const ends = stays.lanes("node1", "fg").map((lane) => lane.stays[0].end / HOUR);
  assert.deepEqual(ends, [2, 4]);
});

test("The stays of a span are those with a part in it", () => {
  const stays = new Stays();
  stays.add([row(1, 2), row(2, 3), row(5, null)]);
  const [lane] = stays.lanes("node1", "fg");
  const found = (begin, end) => within(lane, begin * HOUR, end * HOUR).map((stay) => stay.begin / HOUR);
  assert.deepEqual(found(0, 1), []);
  assert.deepEqual(found(0, 9), [1, 2, 5]);
  assert.deepEqual(found(1.5, 2), [1]);
  assert.deepEqual(found(2, 5), [2]);
  assert.deepEqual(found(3, 4), []);
  assert.deepEqual(found(8, 9), [5]);
});

test("A swap, a move, an eviction and an end are told apart", () => {
  const stays = new Stays();
  stays.add([
    row(1, 2, {tier: "bg"}), row(2, 3), row(3, 4, {host: "node2"}), row(5, 6, {host: "node3"}),
    row(1, 2, {host: "node4", process: 1}), row(1, 2, {host: "node5", job: null}),
    row(7, null, {host: "node5"}),
  ]);
  const end = (host, tier = "fg", waits) => endOf(stays.lanes(host, tier)[0].stays[0], waits);
  assert.equal(end("node1", "bg").kind, "swap");
  assert.equal(end("node1").kind, "move");
  assert.equal(end("node1").next.lane.host, "node2");
  assert.equal(end("node2").kind, "eviction");
  assert.equal(end("node3").kind, "eviction");
  assert.equal(end("node4"), null);
  assert.equal(end("node4", "fg", (uuid) => uuid === UUIDS[1]).kind, "eviction");
  assert.equal(end("node5", "fg", () => true), null);
});

test("A search finds numbers, names and hosts, and nothing of a job that is not shown", () => {
  const stays = new Stays();
  stays.add([row(1, null, {job: job(12, "Solver")}), row(1, null, {slot: 1, job: null})]);
  const [mine, foreign] = stays.lanes("node1", "fg").map((lane) => lane.stays[0]);
  for (const sought of ["12", "solv", "node1"]) assert.ok(matches(mine, sought), sought);
  assert.ok(!matches(mine, "2"));
  assert.ok(!matches(foreign, "solv"));
  const [waiting] = packed([{begin: 0, end: HOUR, job: mine.job}], 1);
  assert.ok(matches(waiting, "solv"));
  assert.ok(!matches(waiting, "node1"));
});

test("A view has room for as many hosts as are visible in it", () => {
  const hosts = Array.from({length: 600}, (_, number) => ({name: `node${number}`, slots: 16, tiers: 2}));
  for (const [width, height] of [[376, 300], [1180, 480], [2500, 1300]]) {
    const {first, last} = visible(arrange(hosts, width), 0, height);
    assert.equal(roomIn(width, height), last - first, `${width} x ${height}`);
  }
  assert.equal(roomIn(10, 0), 1);
  assert.equal(roomIn(100000, 100000), 500);
});

test("A project's stays stand out, and hosts without any are not shown", () => {
  const stays = new Stays();
  stays.add([
    row(1, null, {job: {...job(12, "solver"), project_id: "demo"}}),
    row(1, null, {slot: 1, job: {...job(13, "solver"), project_id: "other"}}),
    row(1, null, {host: "node2", job: {...job(14, "mesh"), project_id: "other"}}),
    row(1, null, {host: "node3", job: null}),
  ]);
  const [demo, other] = stays.lanes("node1", "fg").map((lane) => lane.stays[0]);
  const names = (filter) => shown(stays, {listed: null, only: null, pool: "", ...filter}).map(({name}) => name);
  assert.equal(standsOut({}), null);
  const ofDemo = standsOut({project: "demo"});
  assert.deepEqual([demo, other].map(ofDemo), [true, false]);
  assert.deepEqual([demo, other].map(standsOut({project: "demo", search: "mesh"})), [false, false]);
  assert.deepEqual([...stays.projects].sort(), ["demo", "other"]);
  assert.deepEqual(names({}), ["node1", "node2", "node3"]);
  assert.deepEqual(names({project: "demo"}), ["node1"]);
  assert.deepEqual(names({project: "other"}), ["node1", "node2"]);
  assert.deepEqual(names({project: "other", search: "mesh"}), ["node2"]);
  assert.deepEqual(names({project: "demo", search: "node2"}), []);
  assert.deepEqual(names({search: "node3"}), ["node3"]);
});

test("Each cell of the grid is found where it is painted", () => {
  const hosts = Array.from({length: 7}, (_, number) => ({name: `node${number}`, slots: 16, tiers: 2}));
  for (const width of [376, 1180]) {
    const layout = arrange(hosts, width);
    assert.ok(layout.columns * layout.tile.width - layout.sizes.between <= width);
    for (let index = 0; index < hosts.length; index += 1) {
      for (const [line, slot] of [[0, 0], [1, 15]]) {
        const {x, y} = cellAt(layout, index, line, slot);
        assert.deepEqual(hit(layout, hosts, x + 6, y + 6), {index, row: line, slot});
      }
    }
    const {x, y} = cellAt(layout, 6, 0, 0);
    assert.equal(hit(layout, hosts, x, y - 4), null);
    assert.equal(hit(layout, hosts, -3, y), null);
    assert.equal(hit(layout, hosts, x, layout.height + 20), null);
  }
});

test("Only the tiles in view are visible, and none without hosts", () => {
  const hosts = Array.from({length: 1000}, (_, number) => ({name: `node${number}`, slots: 16, tiers: 2}));
  const layout = arrange(hosts, 1180);
  const {first, last} = visible(layout, 5000, 5600);
  assert.ok(first > 0 && last - first <= 15 * layout.columns);
  assert.deepEqual(visible(arrange([], 1180), 0, 600), {first: 0, last: 0});
});

test("Arrow keys lead over the edges of tiles, and not out of the grid", () => {
  const hosts = [{slots: 4, tiers: 2}, {slots: 2, tiers: 2}, {slots: 4, tiers: 1}];
  const layout = {...arrange(hosts, 376), columns: 2};
  const from = (cell, direction) => Object.values(beside(layout, hosts, cell, direction)).join(" ");
  assert.equal(from({index: 0, row: 0, slot: 3}, [1, 0]), "1 0 0");
  assert.equal(from({index: 1, row: 1, slot: 0}, [-1, 0]), "0 1 3");
  assert.equal(from({index: 0, row: 1, slot: 3}, [0, 1]), "2 0 3");
  assert.equal(from({index: 2, row: 0, slot: 3}, [0, -1]), "0 1 3");
  assert.equal(from({index: 0, row: 0, slot: 0}, [-1, 0]), "0 0 0");
  assert.equal(from({index: 1, row: 1, slot: 0}, [0, 1]), "1 1 0");
});

test("Closed places are free ones first", () => {
  const closed = (count) => [...closedPlaces(4, count, (place) => place > 1)].sort();
  assert.deepEqual(closed(1), [1]);
  assert.deepEqual(closed(3), [0, 1, 3]);
  assert.deepEqual(closed(0), []);
});

test("Only what looks different is painted again", () => {
  const painted = new Map();
  assert.deepEqual(changedIn(painted, new Map([["a", "red"], ["b", "blue"]])), ["a", "b"]);
  assert.deepEqual(changedIn(painted, new Map([["a", "red"], ["b", "green"]])), ["b"]);
  assert.deepEqual(changedIn(painted, new Map([["a", "red"]])), []);
  assert.deepEqual(changedIn(painted, new Map([["a", "red"], ["b", "green"]])), ["b"]);
});

test("Each lane is found where it is painted", () => {
  const hosts = [{name: "a", slots: 2, tiers: 2}, {name: "b", slots: 1, tiers: 3}, {name: "c", slots: 3, tiers: 1}];
  const layout = arrangeLanes(hosts);
  const all = visibleSlots(layout, 0, layout.height);
  assert.deepEqual(all.map(({host, slot}) => host.name + slot), ["a0", "a1", "b0", "c0", "c1", "c2"]);
  for (const {host, slot, y} of all) {
    assert.deepEqual(laneAt(layout, y + 1), {host: host.name, tier: "fg", slot});
  }
  assert.deepEqual(laneAt(layout, all[2].y + 2 * layout.sizes.lane + 1), {host: "b", tier: "bg", slot: 1});
  assert.equal(laneAt(layout, 1), null);
  assert.equal(laneAt(layout, layout.height), null);
  assert.deepEqual(visibleSlots(layout, all[2].y, all[2].y + 1).map(({host}) => host.name), ["b"]);
  assert.deepEqual(visibleSlots(arrangeLanes([]), 0, 600), []);
});

test("Waiting jobs share lanes without overlap, and those without room are left out", () => {
  const jobs = [[0, 4], [1, 2], [2, 3], [3, 5], [1, 9]].map(([begin, end]) => ({begin, end}));
  const found = packed(jobs, 2).map(({begin, end, line}) => [begin, end, line]);
  assert.deepEqual(found, [[0, 4, 0], [1, 2, 1], [2, 3, 1], [3, 5, 1]]);
});

test("Zooming keeps the time under the pointer, within what the API tells", () => {
  const span = {begin: 0, end: 10 * HOUR};
  const closer = zoomed(span, 0.5, 0.2);
  assert.equal(closer.end - closer.begin, 5 * HOUR);
  assert.equal(timeOf(closer, 100, 20), timeOf(span, 100, 20));
  assert.equal(pixelOf(closer, 100, timeOf(closer, 100, 70)), 70);
  const {begin, end} = zoomed(span, 1e9);
  assert.equal(end - begin, LONGEST);
  assert.deepEqual(panned(span, 0.1), {begin: HOUR, end: 11 * HOUR});
});

test("The axis has labels at full hours of the reader's zone, with room between them", () => {
  const {step, times} = ticks({begin: 0.2 * HOUR, end: 6.2 * HOUR}, 600);
  assert.equal(step, HOUR);
  assert.deepEqual(times.map((time) => time / HOUR), [1, 2, 3, 4, 5, 6]);
  const shifted = ticks({begin: 0, end: 6 * HOUR}, 600, HOUR / 2).times;
  assert.deepEqual(shifted.map((time) => time / HOUR), [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
  for (const hours of [0.02, 1, 30, 700]) {
    assert.ok(ticks({begin: 0, end: hours * HOUR}, 600).times.length <= 7, `${hours} h`);
  }
});

test("A window is read that is wider than what is seen, once", () => {
  const now = 100 * HOUR;
  const span = {begin: 96 * HOUR, end: 102 * HOUR};
  const window = wanted(span, null, now);
  assert.deepEqual(window, {begin: 93 * HOUR, end: Infinity});
  assert.equal(wanted(span, window, now), null);
  assert.equal(wanted(panned(span, -0.4), window, now), null);
  const before = wanted(panned(span, -4), window, now);
  assert.deepEqual(before, {begin: 69 * HOUR, end: 81 * HOUR});
  assert.deepEqual(joined(window, before), before);
  assert.deepEqual(joined(window, {begin: 80 * HOUR, end: 94 * HOUR}), {begin: 80 * HOUR, end: Infinity});
  assert.equal(wanted({begin: 101 * HOUR, end: 103 * HOUR}, null, now), null);
  assert.ok(wanted({begin: -9000 * HOUR, end: 102 * HOUR}, null, now).begin >= now - LONGEST);
});
