// What is said of a stay or of a place, to readers of the screen and under the pointer.
import {TIERS, clock, processes} from "./format.js";

const ENDS = {swap: "swapped", move: "moved", eviction: "evicted"};

export function whose(stay) {
  if (!stay.job) {
    return `A job of another project with ${processes(stay.size)}`;
  }
  const name = stay.job.name ? ` ${stay.job.name}` : "";
  return `Job ${stay.job.label}${name}, process ${stay.process}`;
}

export function where(lane) {
  return `${TIERS[lane.tier]} of slot ${lane.slot} of host ${lane.host}`;
}

export function times(stay) {
  const since = `since ${at(stay.begin)}`;
  if (stay.end !== Infinity) return `from ${at(stay.begin)} to ${at(stay.end)}`;
  return stay.expected ? `${since}, expected to end ${at(stay.expected)}` : since;
}

// What ended it, as `stays.endOf` tells.
export function ending(end) {
  if (!end) return "";
  const to = end.next && end.kind !== "eviction" ? ` to the ${where(end.next.lane)}` : "";
  return `, then ${ENDS[end.kind]}${to}`;
}

function at(time) {
  return clock(time);
}
