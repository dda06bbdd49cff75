// Which hosts a view shows, and which of their stays stand out: by pool, by project and by what is
// searched for.
import {laneCount, matches} from "./stays.js";

const NAMES = new Intl.Collator("en", {numeric: true});

// What tells whether a stay stands out: it is of the project, and matches what is searched for; null: all do.
export function standsOut({search = "", project = ""}) {
  const sought = search.trim().toLowerCase();
  if (!sought && !project) return null;
  return (stay) => (!project || stay.job?.project === project) && (!sought || matches(stay, sought));
}

// The hosts to show, by name, each as `{name, slots, tiers, closed, drain}`.
//
// `listed`: as the API lists them; null: those that had stays. `only`: names of the pool's hosts;
// null: unknown. With a pool, the stays are those of its jobs.
export function shown(stays, {listed, only, pool, search = "", project = ""}) {
  const sought = search.trim().toLowerCase();
  const outstanding = standsOut({search, project});
  const hosts = listed
    ? listed.map(({name, slots, tiers, closed, drain}) => ({name, slots, tiers, closed, drain}))
    : [...stays.hosts.keys()].map((name) => had(stays, name));
  return hosts
    .filter(({name}) => !pool || (only ? only.has(name) : stays.hosts.has(name)))
    .filter(({name}) => !outstanding || (!project && name.toLowerCase().includes(sought)) || has(stays, name, outstanding))
    .sort((one, other) => NAMES.compare(one.name, other.name));
}

function had(stays, name) {
  const slots = Math.max(laneCount(stays, {name}, "fg"), stays.lanes(name, "bg").length);
  return {name, slots, tiers: 2, closed: 0, drain: null};
}

function has(stays, name, wanted) {
  return ["fg", "bg"].some((tier) => stays.lanes(name, tier).some((lane) => lane.stays.some(wanted)));
}

// What is said where no host is shown; `waiting`: waiting jobs that may stand out. Empty: nothing is looked for.
export function unmatched({search = "", project = ""}, waiting = []) {
  const outstanding = standsOut({search, project});
  if (!outstanding) return "";
  return waiting.some(outstanding) ? "No host matches." : "No host or job matches.";
}

// What is said of a host that is drained; empty without a drain.
export function drainText(host) {
  return host.drain ? `, ${host.drain.state}` : "";
}
