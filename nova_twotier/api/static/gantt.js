// The painting of the timeline, and what pointer and keys do to it. It outlasts renderings of its view.
import {clock, processes} from "./format.js";
import {colourOf, inkOn, mixed} from "./colours.js";
import {drainText} from "./selection.js";
import {endOf, within} from "./stays.js";
import {arrangeLanes, laneAt, numbered, packed, visibleSlots} from "./lanes.js";
import {ending, times, where, whose} from "./said.js";
import {panned, pixelOf, ticks, timeOf, zoomed} from "./span.js";
import {fitting} from "./surface.js";
import {painted as measured} from "./timing.js";

const AXIS = 24;
const WAITING_LANES = 3;
const LANE = 13;
// The axis, the lanes of waiting jobs, and a little room.
const HEAD = AXIS + WAITING_LANES * LANE + 8;
const GUTTER = 132;
const GUTTER_NARROW = 96;
const PALE = 0.4;
const PALER = 0.2;
const FONT = "11px system-ui, sans-serif";
const SMALL = "10px system-ui, sans-serif";
const MOST_ROWS = 60;
// Pixels that a pointer moves at least in a drag.
const DRAGGED = 4;
const WHEEL = 0.0015;

export function gantt(span) {
  const self = {ask: null, box: null, source: null, tell: null, narrow: false};
  let layout = arrangeLanes([]);
  // The waiting jobs that are predicted; null: not known yet.
  let predicted = null;
  // Whether others are predicted to start after them.
  let unread = false;
  let waits = new Set();
  let outstanding = null;
  // While the present is in view it stays where it is.
  let follows = true;
  let last = Date.now();
  let view = null;
  let pointed = null;

  const gutter = () => (self.narrow ? GUTTER_NARROW : GUTTER);
  const width = () => Math.max(1, view.width - gutter());

  self.height = (hosts) => arrangeLanes(hosts).height + HEAD + 12;

  self.show = (hosts, options) => {
    layout = arrangeLanes(hosts);
    ({predicted, unread} = options);
    waits = new Set((predicted ?? []).filter((each) => each.job).map((each) => each.job.uuid));
    outstanding = options.outstanding;
    self.ask();
  };

  self.want = () => self.source.want(span);

  function go(to) {
    span = to;
    const now = Date.now();
    follows = span.begin < now && now < span.end;
    self.want();
    self.ask();
  }

  self.zoom = (factor, share) => {
    const now = Date.now();
    // The present stays where it is if it is in view.
    const still = share ?? (follows ? (now - span.begin) / (span.end - span.begin) : 0.5);
    go(zoomed(span, factor, still));
  };

  self.pan = (share) => go(panned(span, share));

  self.scroll = (slots) => {
    self.box.current.scrollTop += slots * 2 * layout.sizes.lane;
  };

  self.present = () => {
    const length = span.end - span.begin;
    const now = Date.now();
    go({begin: now - (2 / 3) * length, end: now + length / 3});
  };

  self.tick = () => {
    const now = Date.now();
    if (follows) span = {begin: span.begin + now - last, end: span.end + now - last};
    last = now;
    self.want();
    self.ask();
  };

  self.paint = (context, seen) => {
    view = seen;
    const {theme} = view;
    context.fillStyle = theme.back;
    context.fillRect(0, 0, view.width, view.height);
    context.textBaseline = "middle";
    const times = ticks(span, width(), zone());
    lines(context, times);
    for (const slot of slotsInView()) row(context, slot);
    cover(context);
    axis(context, times);
    waitingJobs(context);
    present(context);
    measured(layout.hosts.length > 0 && self.source.stays.count > 0);
  };

  // The slots in view; heights are those of the canvas.
  function slotsInView() {
    const above = view.top;
    return visibleSlots(layout, above, above + view.height - HEAD)
      .map((slot) => ({...slot, y: slot.y - above + HEAD}));
  }

  function lines(context, {times}) {
    context.fillStyle = view.theme.line;
    for (const time of times) context.fillRect(x(time), HEAD, 1, view.height);
  }

  function row(context, {host, slot, y}) {
    const {theme} = view;
    const {lane: height, slot: between} = layout.sizes;
    context.fillStyle = theme.raised;
    context.fillRect(0, y + host.tiers * height + Math.floor(between / 2), view.width, 1);
    for (let each = 0; each < host.tiers; each += 1) {
      const place = numbered(host, each, slot);
      const lane = self.source.stays.lanes(host.name, place.tier)[place.slot];
      if (!lane) continue;
      for (const stay of within(lane, span.begin, span.end)) bar(context, stay, y + each * height, height - 1, host);
    }
  }

  function bar(context, stay, y, height, host) {
    const {theme} = view;
    const now = Date.now();
    const colour = shade(stay);
    const begin = clip(x(stay.begin));
    const end = clip(x(Math.min(stay.end, Math.max(now, stay.begin))));
    context.fillStyle = colour;
    context.fillRect(begin, y, Math.max(1, end - begin - 0.5), height);
    if (stay.end === Infinity && stay.expected > now) {
      context.fillStyle = mixed(colour, theme.back, PALE);
      const until = clip(x(stay.expected));
      context.fillRect(end, y, Math.max(0, until - end), height);
    }
    if (stay.job && end - begin > 30) {
      context.font = SMALL;
      context.fillStyle = inkOn(colour);
      const text = fitting(context, `${stay.job.label} ${stay.job.name}`, end - begin - 16);
      if (text.length > 2) context.fillText(text, begin + 7, y + height / 2 + 0.5);
    }
    mark(context, stay, y, height, host);
  }

  function mark(context, stay, y, height, host) {
    const end = endOf(stay, (uuid) => waits.has(uuid));
    if (!end || stay.end < span.begin || stay.end > span.end) return;
    const at = x(stay.end);
    const middle = y + height / 2;
    const {theme} = view;
    context.lineWidth = 1.5;
    context.beginPath();
    if (end.kind === "swap") {
      // From its lane to that of the other tier.
      const down = stay.lane.tier === "fg" ? 1 : -1;
      const far = middle + down * layout.sizes.lane * Math.max(1, host.tiers - 1);
      context.strokeStyle = theme.text;
      context.moveTo(at, middle);
      context.lineTo(at, far);
      context.moveTo(at - 3, far - down * 4);
      context.lineTo(at, far);
      context.lineTo(at + 3, far - down * 4);
      context.stroke();
    } else if (end.kind === "move") {
      context.fillStyle = theme.text;
      context.moveTo(at - 4, middle);
      context.lineTo(at, middle - 4);
      context.lineTo(at + 4, middle);
      context.lineTo(at, middle + 4);
      context.fill();
    } else {
      context.strokeStyle = theme.danger;
      context.lineWidth = 2;
      context.moveTo(at - 3.5, middle - 3.5);
      context.lineTo(at + 3.5, middle + 3.5);
      context.moveTo(at + 3.5, middle - 3.5);
      context.lineTo(at - 3.5, middle + 3.5);
      context.stroke();
    }
  }

  // What is left of the lanes, and above them.
  function cover(context) {
    const {theme} = view;
    context.fillStyle = theme.back;
    context.fillRect(0, 0, view.width, HEAD);
    context.fillRect(0, 0, gutter(), view.height);
    const named = new Set();
    for (const {host, slot, y} of slotsInView()) {
      const height = host.tiers * layout.sizes.lane;
      if (y + height / 2 < HEAD) continue;
      context.font = FONT;
      context.fillStyle = theme.muted;
      context.textAlign = "right";
      context.fillText(String(slot), gutter() - 6, y + height / 2);
      context.textAlign = "left";
      if (named.has(host.name)) continue;
      named.add(host.name);
      context.fillStyle = theme.text;
      context.fillText(fitting(context, host.name + drainText(host), gutter() - 30), 6, y + height / 2);
    }
  }

  function axis(context, {times}) {
    const {theme} = view;
    context.fillStyle = theme.muted;
    context.font = FONT;
    for (const time of times) {
      const at = x(time);
      context.fillRect(at, AXIS - 5, 1, 5);
      const text = clock(time);
      if (at + context.measureText(text).width < view.width) context.fillText(text, at + 3, AXIS / 2);
    }
    context.fillStyle = theme.line;
    context.fillRect(0, HEAD - 1, view.width, 1);
  }

  function waitingJobs(context) {
    const {theme} = view;
    const fit = packed(inView(), WAITING_LANES);
    const left = inView().length - fit.length;
    const further = unread && span.end > predicted.at(-1)?.begin;
    const title = predicted && !fit.length && !further ? "No start in view" : `Waiting${left ? `, ${left}${further ? "+" : ""} more` : ""}`;
    context.font = FONT;
    context.fillStyle = theme.muted;
    context.fillText(fitting(context, title, gutter() - 8), 6, AXIS + LANE);
    for (const each of fit) {
      const colour = mixed(shade(each), theme.back, PALE);
      const begin = clip(x(each.begin));
      const end = clip(x(each.end));
      const y = AXIS + 4 + each.line * LANE;
      context.fillStyle = colour;
      context.fillRect(begin, y, Math.max(2, end - begin - 1), LANE - 1);
      if (!each.job || end - begin < 30) continue;
      context.font = SMALL;
      context.fillStyle = inkOn(colour);
      context.fillText(fitting(context, `${each.job.label} ${each.job.name}`, end - begin - 6), begin + 3, y + LANE / 2);
    }
  }

  function inView() {
    return (predicted ?? []).filter((each) => each.begin < span.end && each.end > span.begin);
  }

  function present(context) {
    const at = x(Date.now());
    if (at < gutter() || at > view.width) return;
    context.fillStyle = view.theme.accent;
    context.fillRect(Math.round(at) - 1, AXIS - 6, 2, view.height);
  }

  function shade(stay) {
    const {theme} = view;
    const base = stay.job ? colourOf(stay.job.number, theme.scheme) : theme.foreign;
    return outstanding && !outstanding(stay) ? mixed(base, theme.back, PALER) : base;
  }

  function x(time) {
    return gutter() + pixelOf(span, width(), time);
  }

  function clip(at) {
    return Math.min(view.width, Math.max(gutter(), at));
  }

  // The stay or waiting job at a point of the canvas.
  function under({x: across, y: down}) {
    if (!view || across < gutter()) return null;
    const time = timeOf(span, width(), across - gutter());
    if (down < HEAD) {
      const line = Math.floor((down - AXIS - 4) / LANE);
      return packed(inView(), WAITING_LANES).find((each) => each.line === line && each.begin <= time && time < each.end) ?? null;
    }
    const found = laneAt(layout, down - HEAD + view.top);
    const lane = found && self.source.stays.lanes(found.host, found.tier)[found.slot];
    if (!lane) return null;
    // A pixel to each side, for stays that are short.
    const pixel = (span.end - span.begin) / width();
    return within(lane, time - pixel, time + pixel).find((stay) => time < lastOf(stay) + pixel) ?? null;
  }

  function lastOf(stay) {
    return stay.end === Infinity ? Math.max(Date.now(), stay.expected ?? 0) : stay.end;
  }

  function said(stay) {
    if (!stay) return "";
    if (!stay.lane) return `${stay.job ? `Job ${stay.job.label} ${stay.job.name}` : "A job of another project"}, ${processes(stay.size)}, expected from ${clock(stay.begin)}${stay.open ? "" : ` to ${clock(stay.end)}`}`;
    return `${whose(stay)}, ${where(stay.lane)}, ${times(stay)}${ending(endOf(stay, (uuid) => waits.has(uuid)))}`;
  }

  self.open = (scope) => {
    if (pointed?.job) scope.open(pointed.job.uuid);
  };

  // The stays in view as text.
  self.rows = () => {
    if (!view) return [];
    const found = [];
    for (const {host, slot} of slotsInView()) {
      for (let each = 0; each < host.tiers; each += 1) {
        const place = numbered(host, each, slot);
        const lane = self.source.stays.lanes(host.name, place.tier)[place.slot];
        for (const stay of lane ? within(lane, span.begin, span.end) : []) {
          if (found.length >= MOST_ROWS) return found;
          found.push({
            key: `${host.name} ${place.tier} ${place.slot} ${stay.begin}`, uuid: stay.job?.uuid,
            whose: whose(stay), where: where(lane), when: times(stay) + ending(endOf(stay, (uuid) => waits.has(uuid))),
          });
        }
      }
    }
    return found;
  };

  // Follows pointer and wheel until the function that it returns is called.
  self.listen = (canvas, scope) => {
    const abort = new AbortController();
    const {signal} = abort;
    let drag = null;
    const on = (kind, act, options = {}) => canvas.addEventListener(kind, act, {signal, ...options});
    const point = (event) => {
      pointed = under({x: event.offsetX, y: event.offsetY});
      canvas.style.cursor = pointed?.job ? "pointer" : "grab";
      self.tell(said(pointed));
    };
    on("pointerdown", (event) => {
      drag = {x: event.clientX, y: event.clientY, span, top: self.box.current.scrollTop, far: false};
      canvas.setPointerCapture(event.pointerId);
    });
    on("pointermove", (event) => {
      if (!drag) {
        point(event);
        return;
      }
      const [across, down] = [event.clientX - drag.x, event.clientY - drag.y];
      drag.far ||= Math.hypot(across, down) > DRAGGED;
      if (!drag.far) return;
      go(panned(drag.span, -across / width()));
      self.box.current.scrollTop = drag.top - down;
    });
    on("pointerup", (event) => {
      const click = drag && !drag.far;
      drag = null;
      point(event);
      if (click) self.open(scope);
    });
    on("pointercancel", () => { drag = null; });
    on("pointerleave", () => {
      pointed = null;
      self.tell("");
    });
    on("wheel", (event) => {
      // With Shift, as with the scroll bar, other hosts come into view.
      event.preventDefault();
      if (event.shiftKey) self.box.current.scrollTop += event.deltaY || event.deltaX;
      else self.zoom(Math.exp(event.deltaY * WHEEL), (event.offsetX - gutter()) / width());
    }, {passive: false});
    return () => abort.abort();
  };

  return self;
}

// The reader's offset from UTC in milliseconds.
function zone() {
  return -new Date().getTimezoneOffset() * 60_000;
}
