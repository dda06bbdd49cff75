// Which hosts a view shows, and which of their stays stand out: by pool and by what is searched for.
import {laneCount, matches} from "./stays.js";

const NAMES = new Intl.Collator("en", {numeric: true});

// The hosts to show, by name, each as `{name, slots, tiers, closed, drain}`.
//
// `listed`: as the API lists them; null: those that had stays. `only`: names of the pool's hosts;
// null: unknown. With a pool, the stays are those of its jobs.
export function shown(stays, {listed, only, pool, search}) {
  const sought = search.trim().toLowerCase();
  const hosts = listed
    ? listed.map(({name, slots, tiers, closed, drain}) => ({name, slots, tiers, closed, drain}))
    : [...stays.hosts.keys()].map((name) => had(stays, name));
  return hosts
    .filter(({name}) => !pool || (only ? only.has(name) : stays.hosts.has(name)))
    .filter(({name}) => !sought || name.toLowerCase().includes(sought) || someMatch(stays, name, sought))
    .sort((one, other) => NAMES.compare(one.name, other.name));
}

function had(stays, name) {
  const slots = Math.max(laneCount(stays, {name}, "fg"), stays.lanes(name, "bg").length);
  return {name, slots, tiers: 2, closed: 0, drain: null};
}

function someMatch(stays, name, sought) {
  return ["fg", "bg"].some((tier) =>
    stays.lanes(name, tier).some((lane) => lane.stays.some((stay) => matches(stay, sought))));
}

// What is said of a host that is drained; empty without a drain.
export function drainText(host) {
  return host.drain ? `, ${host.drain.state}` : "";
}
