// The span of time that the timeline shows, in milliseconds since the epoch: zoom, pan, the axis, and
// what to ask the API for.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
export const SHORTEST = MINUTE;
// The API tells of no longer window.
export const LONGEST = 31 * DAY;
const STEPS = [
  SECOND, 5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY,
];
// So many pixels a label of the axis needs.
const APART = 90;

export function lengthOf({begin, end}) {
  return end - begin;
}

// A span that is `factor` times as long; what is at a share of it (0: its begin, 1: its end) stays there.
export function zoomed(span, factor, share = 0.5) {
  const length = Math.min(LONGEST, Math.max(SHORTEST, lengthOf(span) * factor));
  const begin = span.begin + share * (lengthOf(span) - length);
  return {begin, end: begin + length};
}

// A span that is later by a share of its length.
export function panned(span, share) {
  const by = share * lengthOf(span);
  return {begin: span.begin + by, end: span.end + by};
}

// The pixel of a time in a view of this width.
export function pixelOf(span, width, time) {
  return ((time - span.begin) / lengthOf(span)) * width;
}

export function timeOf(span, width, pixel) {
  return span.begin + (pixel / width) * lengthOf(span);
}

// The times to label, at full minutes, hours or days of the reader's zone, whose `offset` from UTC is
// in milliseconds.
export function ticks(span, width, offset = 0) {
  const least = (lengthOf(span) / Math.max(1, width)) * APART;
  const step = STEPS.find((each) => each >= least) ?? Math.ceil(least / (7 * DAY)) * 7 * DAY;
  const found = [];
  const first = Math.ceil((span.begin + offset) / step) * step - offset;
  for (let at = first; at < span.end; at += step) found.push(at);
  return {step, times: found};
}

// What to read so that a span is known: null if it is, else a window that is wider than what is seen,
// so that small steps need no new reading. `known` is the window that has been read.
export function wanted(span, known, now) {
  const end = Math.min(span.end, now);
  if (span.begin >= now) return null;
  if (known && known.begin <= span.begin && known.end >= end) return null;
  const margin = Math.min(lengthOf(span) / 2, (LONGEST - lengthOf(span)) / 2);
  const begin = span.begin - margin;
  // What holds a slot now ends later: the window is open then, and changes are followed.
  return {begin: Math.max(begin, now - LONGEST), end: span.end + margin >= now ? Infinity : span.end + margin};
}

// The window that covers two that touch; the later reading alone if they do not.
export function joined(known, read) {
  if (!known || known.end < read.begin || read.end < known.begin) return read;
  return {begin: Math.min(known.begin, read.begin), end: Math.max(known.end, read.end)};
}
