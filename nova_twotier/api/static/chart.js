// A chart over time, which can be read with the pointer and with the arrow keys.
import {html, useEffect, useMemo, useRef, useState} from "./vendor/ui.js";
import {plotted} from "./history.js";

const DARK = "(prefers-color-scheme: dark)";
const HEIGHT = 190;
const DAY = 24 * 3600;
const FONT = "12px system-ui, sans-serif";
// Pixels that labels of the axes need.
const APART = 70;
const GUTTER = 52;
// Where no cursor is seen.
const AWAY = -10;
const CLOCK = new Intl.DateTimeFormat(undefined, {hour: "2-digit", minute: "2-digit", hourCycle: "h23"});
const DATE = new Intl.DateTimeFormat(undefined, {month: "short", day: "numeric"});
const KEYS = {
  ArrowLeft: (index) => index - 1, ArrowRight: (index) => index + 1, Home: () => 0, End: (_index, last) => last,
};

let library = null;

// The library is read when the first chart is shown: the other views do not wait for it.
function read() {
  library ??= import("./vendor/uplot.js").then((found) => found.default);
  library.catch(() => { library = null; });
  return library;
}

// `pointed(time)` is called with the time under the pointer or cursor in seconds since the epoch; null: none is.
export function Chart({chart, answer, label, pointed}) {
  const box = useRef(null);
  const plot = useRef(null);
  const [found, setFound] = useState(null);
  const data = useMemo(() => plotted(answer, chart), [answer, chart]);
  const state = useRef({});
  Object.assign(state.current, {data, pointed});
  useEffect(() => {
    let there = true;
    read().then((uPlot) => there && setFound(() => uPlot), () => {});
    return () => { there = false; };
  }, []);
  useEffect(() => {
    const outer = box.current;
    // The page may show another view by now.
    if (!found || !outer) return undefined;
    const made = new found(options(found, chart, state.current, outer.clientWidth), state.current.data, outer);
    plot.current = made;
    const watcher = new ResizeObserver(() => made.setSize({width: outer.clientWidth, height: HEIGHT}));
    watcher.observe(outer);
    const media = matchMedia(DARK);
    const recolour = () => made.redraw();
    media.addEventListener("change", recolour);
    return () => {
      watcher.disconnect();
      media.removeEventListener("change", recolour);
      plot.current = null;
      made.destroy();
    };
  }, [found, chart]);
  useEffect(() => plot.current?.setData(data), [data]);
  const press = (event) => {
    const move = KEYS[event.key];
    if (!move || !plot.current || event.ctrlKey || event.metaKey || event.altKey) return;
    step(plot.current, move);
    event.preventDefault();
  };
  return html`
    <div class="plot" ref=${box} tabindex="0" role="application" aria-label=${label}
      aria-roledescription="chart, arrow keys read its values" onKeyDown=${press}
      onBlur=${() => plot.current && put(plot.current, AWAY)}></div>`;
}

// Puts the cursor at a pixel, in the other charts, too.
function put(plot, left) {
  plot.setCursor({left, top: left < 0 ? left : 0}, true, true);
}

// Puts the cursor on another interval; without one, arrows begin with the last interval.
function step(plot, move) {
  // The end of the last interval is no interval.
  const last = plot.data[0].length - 2;
  const {idx} = plot.cursor;
  const next = Math.max(0, Math.min(last, move(idx ?? last + 1, last)));
  // A little inside of it.
  put(plot, plot.valToPos(plot.data[0][next], "x") + 0.1);
}

function options(uPlot, {series, bars}, state, width) {
  const paths = bars ? uPlot.paths.bars({size: [0.8, 40], align: 1}) : uPlot.paths.stepped({align: 1, alignGaps: 1});
  const axis = {
    stroke: () => colour("muted"), font: FONT,
    grid: {stroke: () => colour("line"), width: 1}, ticks: {stroke: () => colour("line"), width: 1, size: 4},
  };
  return {
    width, height: HEIGHT,
    // On the right, room for half of the label of a time at the edge.
    padding: [8, 24, 0, 0],
    legend: {show: false},
    select: {show: false},
    cursor: {y: false, drag: {x: false, y: false}, sync: {key: "cluster"}, points: {size: 7}},
    scales: {
      x: {range: () => [state.data[0][0], state.data[0].at(-1)]},
      y: {range: (_plot, _least, most) => [0, most > 0 ? 1.08 * most : 1]},
    },
    axes: [
      {...axis, space: APART, size: 26, gap: 4, values: (_plot, times, _axis, _space, step) => times.map((at) => written(at, step))},
      {...axis, size: GUTTER, gap: 4},
    ],
    series: [{}, ...series.map(({name}, index) => ({
      paths, points: {show: false}, width: index ? 1.5 : 2, dash: index ? [5, 4] : undefined,
      stroke: () => colour(index ? "other" : bars ? "danger" : "accent"),
      fill: bars ? () => colour("danger") : index ? undefined : () => `${colour("accent")}33`,
      label: name,
    }))],
    hooks: {setCursor: [(plot) => state.pointed(plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") : null)]},
  };
}

function written(at, step) {
  const time = new Date(1000 * at);
  const midnight = time.getHours() + time.getMinutes() === 0;
  return step >= DAY || midnight ? DATE.format(time) : CLOCK.format(time);
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
