// The board's requests to the API that serves it: single ones, and lasting ones that follow what changes.
import {signal, useEffect, useMemo} from "./vendor/ui.js";

// The API lies beside the directory of this module.
const BASE = new URL("../", import.meta.url);
const VERSION = "twotier 1.1";
const NOTHING_CHANGED = 304;
const UNAUTHORIZED = 401;
const TOO_MANY = 429;
// A server on the way to the API, which is there, has waited for the API's answer in vain.
const LATE = 504;
export const LATE_SAID = "The server did not answer in time.";
// Nobody answers, or a server on the way to the API says that it does not.
const GONE = [0, 502, LATE];
// So does this one, unless the API says of what it speaks.
const UNAVAILABLE = 503;
// In seconds.
const STALE = "max-stale=4";
// Milliseconds after a change by the reader in which answers have to be new.
const OWN_CHANGE = 10_000;
// Milliseconds between two polls, and the most after errors.
const INTERVAL = 2000;
const LONGEST = 30000;
// The API spends at most one part in this many of its time on a lasting request.
const SHARE = 5;

// A request that the API refused, or did not answer: its status is 0 then.
export class ApiError extends Error {
  constructor(status, message, code = "") {
    super(message);
    this.status = status;
    this.code = code;
  }

  // Whether the same request may succeed later.
  get passes() {
    return this.status === 0 || this.status === TOO_MANY || this.status >= 500;
  }

  // Whether the API took longer than a server on the way to it would wait.
  get late() {
    return this.status === LATE;
  }

  // Whether the API has said nothing: the connection is lost, or it is late.
  get gone() {
    return GONE.includes(this.status) || (this.status === UNAVAILABLE && !this.code);
  }
}

// Options:
//   token() returns the token to send, or nothing;
//   unauthorized() is called when the API no longer takes the token.
export function client({token = () => "", unauthorized = () => {}, interval = INTERVAL} = {}) {
  const lost = signal(null);
  // Of the lasting requests that fail `{error, old}`, by how they are polled; `old`: they had an answer before.
  const failing = new Map();
  let ownChange = -Infinity;

  async function request(method, path, {body, tag, abort, fresh = false} = {}) {
    const headers = {"Accept": "application/json", "OpenStack-API-Version": VERSION};
    const sent = token();
    if (sent) headers["X-Auth-Token"] = sent;
    if (tag) headers["If-None-Match"] = tag;
    // Lasting requests take answers that the API gave others just before.
    if (method !== "GET") ownChange = performance.now();
    if (abort && !fresh && performance.now() - ownChange > OWN_CHANGE) headers["Cache-Control"] = STALE;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    let answer;
    let text;
    try {
      answer = await fetch(new URL(path.replace(/^\//, ""), BASE), {
        method, headers, signal: abort, cache: "no-store", credentials: "omit", redirect: "error",
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      text = await answer.text();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, "The API does not answer.");
    }
    if (answer.status === NOTHING_CHANGED) return {data: undefined, tag};
    const data = parsed(text);
    if (answer.ok) return {data, tag: answer.headers.get("ETag")};
    // Another token may be there since this one was sent.
    if (answer.status === UNAUTHORIZED && sent && sent === token()) unauthorized();
    throw refusal(answer, data);
  }

  // All pages of a list as one answer. `known` maps the path of a page to its last answer and tag,
  // and is brought up to date.
  async function whole(path, known, abort) {
    const read = new Map();
    const found = [];
    for (let next = path; next; ) {
      const before = known.get(next);
      const {data, tag} = await request("GET", next, {tag: before?.tag, abort});
      const page = data === undefined ? before : {data, tag};
      read.set(next, page);
      found.push(page.data);
      next = following(path, page.data);
    }
    const changed = read.size !== known.size || [...read].some(([at, page]) => known.get(at) !== page);
    known.clear();
    for (const [at, page] of read) known.set(at, page);
    return changed ? joined(found) : undefined;
  }

  // A signal of `{data, error, at}`: the last answer, why there is none newer, and when the API was
  // last heard, in milliseconds since the epoch. It is polled while the tab is visible, until `stop()`.
  // `{pages: true}` follows the links of a list and joins its pages.
  function live(path, {pages = false} = {}) {
    const state = signal({data: undefined, error: null, at: null});
    const known = new Map();
    const abort = new AbortController();
    let timer = null;
    let pause = interval;
    let polling = false;
    let again = false;

    async function poll() {
      if (polling) {
        again = true;
        return;
      }
      clearTimeout(timer);
      if (abort.signal.aborted || document.hidden) return;
      polling = true;
      const began = performance.now();
      try {
        const data = pages
          ? await whole(path, known, abort.signal)
          : await single(path, known, abort.signal);
        succeeded(data, performance.now() - began);
      } catch (error) {
        if (error.name === "AbortError") return;
        if (!(error instanceof ApiError)) throw error;
        failed(error);
      } finally {
        polling = false;
      }
      timer = setTimeout(poll, again ? 0 : pause);
      again = false;
    }

    async function single(at, last, aborted) {
      const {data, tag} = await request("GET", at, {tag: last.get(at), abort: aborted});
      last.set(at, tag);
      return data;
    }

    function succeeded(data, took) {
      pause = Math.min(Math.max(interval, (SHARE - 1) * took), LONGEST);
      const before = state.value;
      state.value = {data: data === undefined ? before.data : data, error: null, at: Date.now()};
      heard(poll);
    }

    function failed(error) {
      pause = Math.min(error.passes ? 2 * pause : LONGEST, LONGEST);
      state.value = {...state.value, error};
      if (error.passes) failing.set(poll, {error, old: state.value.data !== undefined});
      else failing.delete(poll);
      tell();
    }

    document.addEventListener("visibilitychange", poll, {signal: abort.signal});
    state.poll = poll;
    state.stop = () => {
      clearTimeout(timer);
      abort.abort();
      failing.delete(poll);
      tell();
    };
    poll();
    return state;
  }

  // The answer to a single request, however long the connection is lost, or `waits(error)` is true; any other error is
  // thrown.
  async function patient(path, {abort, waits = ({gone}) => gone} = {}) {
    let wake = () => {};
    const ask = () => document.hidden || wake();
    const end = () => wake();
    document.addEventListener("visibilitychange", ask);
    abort?.addEventListener("abort", end);
    try {
      for (let pause = interval; ; pause = Math.min(2 * pause, LONGEST)) {
        try {
          const {data} = await request("GET", path, {abort, fresh: true});
          heard(ask);
          return data;
        } catch (error) {
          if (!waits(error)) throw error;
          failing.set(ask, {error, old: false});
          tell();
        }
        let timer;
        await new Promise((resolve) => {
          wake = resolve;
          timer = setTimeout(ask, pause);
        });
        clearTimeout(timer);
      }
    } finally {
      document.removeEventListener("visibilitychange", ask);
      abort?.removeEventListener("abort", end);
      failing.delete(ask);
      tell();
    }
  }

  // The API has answered one that may have failed before.
  function heard(one) {
    failing.delete(one);
    tell();
    // It is back: nobody else need wait.
    for (const other of [...failing.keys()]) other();
  }

  function tell() {
    const [first] = failing.values();
    lost.value = first ? {error: first.error, old: [...failing.values()].some(({old}) => old)} : null;
  }

  const data = async (...asked) => (await request(...asked)).data;
  return {
    // A signal of the error for which lasting requests are tried again, `{error, old}`; `old`: there were answers
    // before, which are shown still. Null: all is well.
    lost,
    live,
    patient,
    get: (path) => data("GET", path),
    post: (path, body) => data("POST", path, {body}),
    patch: (path, body) => data("PATCH", path, {body}),
    delete: (path) => data("DELETE", path),
    // All rows of a list.
    pages: async (path) => rows(await whole(path, new Map())),
  };
}

// A lasting request of a component, which ends when the component does.
export function useLive(api, path, options) {
  const live = useMemo(() => api.live(path, options), [api, path]);
  useEffect(() => live.stop, [live]);
  return live;
}

// A query string of what is set: `query({pool: "a", active: true, sort_key: null})`.
export function query(options) {
  const set = Object.entries(options).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return set.length ? `?${new URLSearchParams(set)}` : "";
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function refusal(answer, data) {
  const errors = data?.errors ?? [];
  const said = errors.map((each) => each.detail).join("; ");
  const otherwise = answer.status === LATE ? LATE_SAID : `The API answered ${answer.status}.`;
  return new ApiError(answer.status, said || otherwise, errors[0]?.code ?? "");
}

// The path of the page after an answer. Only the query of the link counts: behind a proxy, its host may be another.
function following(path, data) {
  const link = (data.links ?? []).find((each) => each.rel === "next");
  return link ? path.split("?")[0] + new URL(link.href, BASE).search : null;
}

function listed(data) {
  return Object.keys(data).find((key) => key !== "links" && Array.isArray(data[key]));
}

function rows(data) {
  return data[listed(data)];
}

function joined(found) {
  const [first] = found;
  const name = listed(first);
  return found.length === 1 ? first : {...first, links: [], [name]: found.flatMap((page) => page[name])};
}
