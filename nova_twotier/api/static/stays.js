// The stays of processes on slots, as `GET /v1/schedule` tells them, in order by lane.
//
// A lane is a slot in a tier of a host. Its stays do not overlap, so those of a span of time are found
// by bisection, however many there are.

// Milliseconds between the stays of a process that is swapped or moved; a longer gap is a suspension.
const AT_ONCE = 1000;

export class Stays {
  constructor() {
    // Of each host its lanes: `{fg: [lane of slot 0, ...], bg: [...]}`.
    this.hosts = new Map();
    this.jobs = new Map();
    // The ids of the projects of these jobs.
    this.projects = new Set();
    // The latest time that was told, in milliseconds since the epoch.
    this.latest = -Infinity;
    this.count = 0;
  }

  // Takes rows of an answer; returns the lanes that changed.
  add(rows) {
    const changed = new Set();
    for (const row of rows) {
      // An earlier release did not record the slot.
      if (row.slot === null) continue;
      const lane = this.lane(row.host, row.tier, row.slot);
      if (this.#place(lane, this.#read(row, lane))) changed.add(lane);
    }
    return changed;
  }

  lane(host, tier, slot) {
    const lanes = this.#host(host)[tier];
    while (lanes.length <= slot) lanes.push({host, tier, slot: lanes.length, stays: []});
    return lanes[slot];
  }

  // Lanes of a host in a tier that had a stay; shorter than its number of slots if some had none.
  lanes(host, tier) {
    return this.hosts.get(host)?.[tier] ?? [];
  }

  // The stay that holds a slot; null: none does, or nothing is known of it.
  holder(host, tier, slot) {
    const last = this.lanes(host, tier)[slot]?.stays.at(-1);
    return last && last.end === Infinity ? last : null;
  }

  #host(name) {
    let found = this.hosts.get(name);
    if (!found) {
      found = {fg: [], bg: []};
      this.hosts.set(name, found);
    }
    return found;
  }

  #read(row, lane) {
    const begin = Date.parse(row.from);
    const end = row.to === null ? Infinity : Date.parse(row.to);
    this.latest = Math.max(this.latest, begin, row.to === null ? begin : end);
    const expected = row.predicted_to ? Date.parse(row.predicted_to) : null;
    return {
      lane, begin, end, expected, size: row.size, pool: row.pool, process: row.process,
      job: row.job && this.#job(row.job),
    };
  }

  #job(row) {
    let job = this.jobs.get(row.uuid);
    if (!job) {
      job = {uuid: row.uuid, number: row.number, runs: new Map()};
      this.jobs.set(row.uuid, job);
    }
    job.label = labelOf(row);
    job.name = row.name;
    job.project = row.project_id;
    this.projects.add(row.project_id);
    return job;
  }

  // Puts a stay into its lane, or brings the one that began at the same time up to date.
  #place(lane, stay) {
    const {stays} = lane;
    const at = after(stays, stay.begin);
    const known = stays[at - 1];
    if (known?.begin === stay.begin) {
      const same = known.end === stay.end && known.expected === stay.expected && known.job === stay.job;
      Object.assign(known, stay);
      return !same;
    }
    // What came before it has ended, even if that was not told.
    if (known && known.end > stay.begin) known.end = stay.begin;
    stays.splice(at, 0, stay);
    this.count += 1;
    if (stay.job) {
      const run = runOf(stay);
      run.splice(after(run, stay.begin), 0, stay);
    }
    return true;
  }
}

// What ended a stay: a swap, a move or an eviction; null: the job ended, or that is not known.
//
// `waits(uuid)` says whether the job waits.
export function endOf(stay, waits = () => false) {
  if (!stay.job || stay.end === Infinity) return null;
  const run = runOf(stay);
  const next = run[after(run, stay.begin)];
  if (!next) return waits(stay.job.uuid) ? {kind: "eviction", next: null} : null;
  if (next.begin - stay.end > AT_ONCE) return {kind: "eviction", next};
  const swapped = next.lane.host === stay.lane.host && next.lane.tier !== stay.lane.tier;
  return {kind: swapped ? "swap" : "move", next};
}

// The stays of a lane with a part in the span from `begin` until before `end`.
export function within(lane, begin, end) {
  const {stays} = lane;
  let first = after(stays, begin);
  if (first > 0 && stays[first - 1].end > begin) first -= 1;
  let last = first;
  while (last < stays.length && stays[last].begin < end) last += 1;
  return stays.slice(first, last);
}

// A job's number, as the task of an array `12_3`.
export function labelOf(row) {
  return row.array ? `${row.array.number}_${row.array.index}` : String(row.number);
}

// Whether a stay is of a job whose number or name, or on a host whose name, contains a text. A waiting job is on no
// host.
export function matches(stay, sought) {
  const {job, lane} = stay;
  return lane?.host.toLowerCase().includes(sought)
    || (job !== null && (job.label.startsWith(sought) || job.name.toLowerCase().includes(sought)));
}

// A host's number of lanes in a tier: as the hosts are listed, and as there have been stays.
export function laneCount(stays, host, tier) {
  const had = stays.lanes(host.name, tier).length;
  const slots = host.slots ?? had;
  return Math.max(had, tier === "bg" ? slots * Math.max(0, (host.tiers ?? 2) - 1) : slots);
}

function runOf({job, process}) {
  let run = job.runs.get(process);
  if (!run) {
    run = [];
    job.runs.set(process, run);
  }
  return run;
}

// The index of the first stay that begins after a time.
function after(stays, time) {
  let low = 0;
  let high = stays.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stays[middle].begin <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
