// Times, durations and names as people read them.
import {signal} from "./vendor/ui.js";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
export const NOTHING = "–";

// The present time in milliseconds since the epoch: what shows an age changes with it.
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 5000);

// Seconds in the two largest units: `2 h 13 min`.
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return NOTHING;
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min`;
  if (whole < DAY) return `${Math.floor(whole / HOUR)} h ${Math.floor((whole % HOUR) / MINUTE)} min`;
  return `${Math.floor(whole / DAY)} d ${Math.floor((whole % DAY) / HOUR)} h`;
}

// Seconds from a time of the API until now, or until another one.
export function since(time, until = null) {
  if (!time) return null;
  return ((until === null ? now.value : Date.parse(until)) - Date.parse(time)) / 1000;
}

const TIME = {hour: "2-digit", minute: "2-digit", hourCycle: "h23"};
const CLOCK = new Intl.DateTimeFormat(undefined, TIME);
const DATED = new Intl.DateTimeFormat(undefined, {month: "short", day: "numeric", ...TIME});
const EXACT = new Intl.DateTimeFormat(undefined, {dateStyle: "medium", timeStyle: "medium", hourCycle: "h23"});

// The time of day, with the date unless it is today.
export function clock(time) {
  if (!time) return NOTHING;
  const date = new Date(time);
  return (date.toDateString() === new Date(now.value).toDateString() ? CLOCK : DATED).format(date);
}

export function exactly(time) {
  return time ? EXACT.format(new Date(time)) : NOTHING;
}

// The interval of a prediction: `14:20 – 15:05`.
export function between(low, high) {
  return low && high ? `${clock(low)} – ${clock(high)}` : "";
}

// A number with what it counts: `1 process`, `2 processes`.
export function amount(number, one, several = `${one}s`) {
  return `${number} ${String(number) === "1" ? one : several}`;
}

export function processes(number) {
  return amount(number, "process", "processes");
}

export const TIERS = {fg: "foreground", bg: "background"};

// A job's number, as the task of an array `12_3`, or for several waiting ones `12_[4-99]`.
export function label(job) {
  if (!job.array) return String(job.number);
  return job.waiting ? `${job.array.number}_[${job.waiting}]` : `${job.array.number}_${job.array.index}`;
}
