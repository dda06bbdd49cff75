// The history of the cluster: what its charts and tables show of an answer of the API. Knows no page.

const HOUR = 3600;
const DAY = 24 * HOUR;

export const RANGES = {
  hour: {title: "Hour", seconds: HOUR},
  day: {title: "Day", seconds: DAY},
  week: {title: "Week", seconds: 7 * DAY},
  month: {title: "Month", seconds: 30 * DAY},
};

// Of each series: `of` gives its value in an interval, `most` its largest value in it if that is known.
const SLOTS = (tier) => [
  {name: "used", title: "Used", of: (row) => row[tier].used, most: (row) => row[tier].most_used},
  {name: "open", title: "Open", of: (row) => row[tier].open},
];
const WAITING = (what, title) => ({
  name: what, title, of: (row) => row[what].waiting, most: (row) => row[what].most_waiting,
});

export const CHARTS = [
  {name: "foreground", title: "Foreground slots", series: SLOTS("foreground")},
  {name: "background", title: "Background slots", series: SLOTS("background")},
  {
    name: "queue", title: "Queue",
    series: [WAITING("processes", "Processes waiting"), WAITING("jobs", "Jobs waiting")],
  },
  {
    name: "lost", title: "Work lost, in slot-hours", bars: true,
    series: [{name: "lost", title: "Lost", of: (row) => row.lost / HOUR, total: true}],
  },
];

// The columns of a chart: the times in seconds since the epoch, and the values of each series, which are null
// where nothing was counted. A step goes on to the end of its interval, so the last one has its value again there.
export function plotted({from, to, interval, utilisation}, {series, bars = false}) {
  const known = new Map(utilisation.map((row) => [seconds(row.at), row]));
  const times = [];
  for (let at = seconds(from); at <= seconds(to); at += interval) times.push(at);
  const values = series.map(({of}) => times.map((at) => (known.has(at) ? of(known.get(at)) : null)));
  for (const each of bars ? [] : values) {
    const last = each.findLastIndex((value) => value !== null);
    if (last >= 0 && last + 1 < each.length) each[last + 1] = each[last];
  }
  return [times, ...values];
}

// The rows of the table beside a chart; null: not known.
export function figures({latest, summary}, {series}) {
  return series.map(({title, of, most, total}) => {
    if (total) return {title, total: summary && of(summary)};
    return {
      title, now: latest && of(latest), mean: summary && of(summary),
      most: summary && most ? most(summary) : null,
    };
  });
}

// The share of what was open that was used in a tier; null: nothing was open, or it is not known.
export function share(row, tier) {
  return row && row[tier].open ? row[tier].used / row[tier].open : null;
}

// The share of the slots' time that was lost.
export function lostShare({summary}) {
  if (!summary) return null;
  const used = (summary.foreground.used + summary.background.used) * summary.seconds;
  return used ? summary.lost / used : null;
}

// The begin of the interval at a time, both in seconds since the epoch, and what was counted in it: undefined if
// nothing was.
export function intervalAt({from, interval, utilisation}, time) {
  const begin = time - ((time - seconds(from)) % interval);
  return {begin, row: utilisation.find((each) => Math.abs(seconds(each.at) - begin) < 1)};
}

const FEW = new Intl.NumberFormat(undefined, {maximumFractionDigits: 1});
const MANY = new Intl.NumberFormat(undefined, {maximumFractionDigits: 0});
const PERCENT = new Intl.NumberFormat(undefined, {style: "percent", maximumFractionDigits: 1});

export function number(value) {
  if (value === null || value === undefined) return "–";
  return (Math.abs(value) < 100 ? FEW : MANY).format(value);
}

export function percent(value) {
  return value === null ? "–" : PERCENT.format(value);
}

export function seconds(time) {
  return Date.parse(time) / 1000;
}
