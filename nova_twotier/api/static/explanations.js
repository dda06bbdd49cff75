// What only the explanation of a single job says, such as its position: asked for the rows in view.
import {signal} from "./vendor/ui.js";

// Requests at the same time, and milliseconds for which an answer is shown.
const AT_ONCE = 2;
const FRESH = 20000;
// Answers that are kept: many more than rows are in view.
const MOST = 500;

// The explanations of jobs, by an API: `of(uuid)` is a signal of the last one, undefined before.
export function explanations(api) {
  const known = new Map();
  let wanted = [];
  let running = 0;

  function of(uuid) {
    let entry = known.get(uuid);
    if (!entry) {
      entry = {answer: signal(undefined), until: 0};
      known.set(uuid, entry);
    }
    return entry.answer;
  }

  // Ask for these jobs, the first first, and for no others any more.
  function want(uuids) {
    const now = Date.now();
    wanted = uuids.filter((uuid) => of(uuid) && known.get(uuid).until < now);
    for (const uuid of known.keys()) {
      if (known.size <= MOST) break;
      if (!uuids.includes(uuid)) known.delete(uuid);
    }
    while (running < AT_ONCE && wanted.length) ask();
  }

  async function ask() {
    const uuid = wanted.shift();
    const entry = known.get(uuid);
    if (!entry) return;
    entry.until = Date.now() + FRESH;
    running += 1;
    try {
      entry.answer.value = await api.get(`/v1/jobs/${uuid}/explain`);
    } catch (error) {
      // The list itself says what is wrong with the API, and shows the job no longer if it has gone.
      if (error.status === undefined) throw error;
    } finally {
      running -= 1;
    }
    if (wanted.length && running < AT_ONCE) ask();
  }

  return {of, want};
}
