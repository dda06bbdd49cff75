// Keeps the stays of a span of time up to date: it is read once, page by page, and then only what changed.
import {effect, signal, untracked} from "./vendor/ui.js";
import {ApiError, query} from "./client.js";
import {Stays} from "./stays.js";
import {joined, wanted} from "./span.js";
import {arrived} from "./timing.js";

const SCHEDULE = "/v1/schedule";
// Milliseconds. What happened may be recorded so much later than something else that is known.
const MARGIN = 60_000;
// When changes are asked for since a later time, so that answers stay short.
const LATER = 5 * 60_000;
const MANY = 200;
const OLDEST = 30 * 24 * 3600_000;
// Predictions of jobs that run change without their stays: all is read again so often.
const AGAIN = 5 * 60_000;
const RETRY = 5000;
// Changes are asked for since such a time, so that several boards ask the same, which costs the API
// little more than one of them.
const ROUND = 10_000;

// `changed(lanes)` is called when stays have changed. `top()` says how many hosts are in view at first:
// their stays are read before all others.
export function follow(api, pool, top, changed) {
  const stays = new Stays();
  const state = signal({reading: false, read: false, error: null});
  let known = null;
  let seen = null;
  let reads = 0;
  let stopped = false;
  let retry = null;
  const abort = new AbortController();
  let unfollow = () => {};
  const timer = setInterval(() => {
    if (!document.hidden && known && !state.value.reading) read(known);
  }, AGAIN);

  function take(rows) {
    const startTime = performance.now();
    const lanes = stays.add(rows);
    if (!lanes.size) return;
    arrived(startTime);
    changed();
  }

  async function read(window) {
    const turn = ++reads;
    const began = performance.now();
    state.value = {...state.value, reading: true};
    const end = window.end === Infinity ? null : written(window.end);
    try {
      const asked = {from: written(window.begin), to: end, pool, part: "recorded"};
      if (!known && !(await pages({...asked, first_hosts: top()}, turn))) return;
      if (!(await pages(asked, turn))) return;
      known = joined(known, window);
      state.value = {reading: false, read: true, error: null};
      // What was told when the reading began may be as old as the reading took.
      if (!seen) since(stays.latest - (performance.now() - began) - MARGIN);
      changed();
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof ApiError)) throw error;
      if (stopped || turn !== reads) return;
      state.value = {...state.value, reading: false, error};
      if (error.passes) retry = setTimeout(() => read(window), RETRY);
    }
  }

  // Takes all pages of an answer; false: they are not wanted any more.
  async function pages(asked, turn) {
    for (let next = SCHEDULE + query(asked); next; ) {
      const page = await api.patient(next, {abort: abort.signal});
      if (stopped || turn !== reads) return false;
      take(page.stays);
      next = following(page);
    }
    return true;
  }

  function since(time) {
    unfollow();
    seen = Math.floor(Math.max(time, Date.now() - OLDEST) / ROUND) * ROUND;
    const at = written(seen);
    const live = api.live(SCHEDULE + query({from: at, changed_since: at, pool, part: "recorded"}), {pages: true});
    let last;
    const dispose = effect(() => {
      const {data} = live.value;
      if (data && data !== last) untracked(() => followed(data.stays));
      last = data;
    });
    unfollow = () => {
      dispose();
      live.stop();
    };
  }

  function followed(rows) {
    take(rows);
    const later = stays.latest - MARGIN - seen;
    if (stays.latest - seen > LATER || (rows.length > MANY && later > ROUND)) {
      queueMicrotask(() => stopped || since(stays.latest - MARGIN));
    }
  }

  return {
    stays,
    state,
    // Sees to it that this span is known.
    want(span) {
      if (state.value.reading) return;
      const window = wanted(span, known, Date.now());
      if (window) read(window);
    },
    stop() {
      stopped = true;
      abort.abort();
      clearInterval(timer);
      clearTimeout(retry);
      unfollow();
    },
  };
}

function written(time) {
  return new Date(time).toISOString();
}

function following(page) {
  const link = page.links.find((each) => each.rel === "next");
  return link ? SCHEDULE + new URL(link.href, location.href).search : null;
}
