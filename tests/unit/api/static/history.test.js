// What the charts and tables of the view Cluster show of an answer.
import assert from "node:assert/strict";
import {test} from "node:test";
import {CHARTS, RANGES, figures, intervalAt, lostShare, number, plotted, share} from "./static/history.js";

const [FOREGROUND, BACKGROUND, QUEUE, LOST] = CHARTS;
const MINUTE = 60;

function row(minute, used, values = {}) {
  const tier = (held) => ({slots: 8, open: 6, used: held, most_used: held + 1});
  return {
    at: at(minute), seconds: 60, foreground: tier(used), background: tier(1),
    jobs: {waiting: 2, most_waiting: 4, running: 3}, processes: {waiting: 7, most_waiting: 9, running: 3},
    lost: 0, ...values,
  };
}

function at(minute) {
  return new Date(1000 * minute * MINUTE).toISOString();
}

function answer(end, ...rows) {
  return {from: at(0), to: at(end), interval: MINUTE, pools: ["default"], utilisation: rows, latest: rows.at(-1) ?? null,
    summary: rows[0] ?? null};
}

test("Every interval has a time, and those that were not counted are gaps", () => {
  const [times, used, open] = plotted(answer(5, row(0, 1), row(1, 2), row(4, 3)), FOREGROUND);
  assert.deepEqual(times, [0, 60, 120, 180, 240, 300]);
  assert.deepEqual(used, [1, 2, null, null, 3, 3]);
  assert.deepEqual(open, [6, 6, null, null, 6, 6]);
});

test("The last step ends with its interval, and is not drawn through a gap", () => {
  const [, used] = plotted(answer(5, row(0, 1), row(1, 2)), FOREGROUND);
  assert.deepEqual(used, [1, 2, 2, null, null, null]);
  assert.deepEqual(plotted(answer(2), FOREGROUND)[1], [null, null, null]);
});

test("Bars stand for single intervals", () => {
  const [, lost] = plotted(answer(3, row(1, 1, {lost: 1800})), LOST);
  assert.deepEqual(lost, [null, 0.5, null, null]);
});

test("The table has the present, the mean and the most", () => {
  const rows = figures(answer(2, row(0, 3), row(1, 5)), FOREGROUND);
  assert.deepEqual(rows, [
    {title: "Used", now: 5, mean: 3, most: 4}, {title: "Open", now: 6, mean: 6, most: null},
  ]);
  assert.deepEqual(figures(answer(2, row(0, 3)), BACKGROUND)[0], {title: "Used", now: 1, mean: 1, most: 2});
  assert.deepEqual(figures(answer(2, row(0, 3)), QUEUE).map(({mean, most}) => [mean, most]), [[7, 9], [2, 4]]);
  assert.deepEqual(figures(answer(2, row(0, 3, {lost: 7200})), LOST), [{title: "Lost", total: 2}]);
});

test("Where nothing is known, nothing is said", () => {
  assert.deepEqual(figures(answer(2), FOREGROUND)[0], {title: "Used", now: null, mean: null, most: null});
  assert.equal(share(null, "foreground"), null);
  assert.equal(share(row(0, 0, {foreground: {slots: 0, open: 0, used: 0}}), "foreground"), null);
  assert.equal(lostShare(answer(2)), null);
  assert.equal(number(null), "–");
});

test("Shares are of what was open, and of the time in slots", () => {
  assert.equal(share(row(0, 3), "foreground"), 0.5);
  assert.equal(lostShare(answer(2, row(0, 3, {lost: 60}))), 60 / (4 * 60));
});

test("The interval at a time", () => {
  const shown = answer(3, row(0, 1), row(2, 3));
  assert.equal(intervalAt(shown, 59.5).row.foreground.used, 1);
  assert.deepEqual(intervalAt(shown, 60), {begin: 60, row: undefined});
  assert.equal(intervalAt(shown, 121).begin, 120);
  assert.equal(intervalAt(shown, 121).row.foreground.used, 3);
});

test("The ranges can be asked for", () => {
  for (const {seconds} of Object.values(RANGES)) assert.ok(seconds >= 60 && Number.isInteger(seconds));
});
