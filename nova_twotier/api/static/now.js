// The view Now: each slot of each host in both tiers, and which job holds it.
import {html, useEffect, useMemo, useRef, useState} from "./vendor/ui.js";
import {NOTHING} from "./format.js";
import {colourOf, mixed} from "./colours.js";
import {follow} from "./follow.js";
import {useHosts} from "./hosts.js";
import {ProjectChoice} from "./projects.js";
import {drainText, shown, standsOut, unmatched} from "./selection.js";
import {fitting, hatch, useSurface} from "./surface.js";
import {times, where, whose} from "./said.js";
import {arrange, beside, cellAt, changedIn, closedPlaces, corner, hit, roomIn, visible} from "./tiles.js";
import {painted as measured} from "./timing.js";

const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
const PAD = 8;
const PALE = 0.22;
const MOST_ROWS = 100;
const FONT = "12px system-ui, sans-serif";

export function Now({api, scope}) {
  const pool = scope.pool.value;
  const box = useRef(null);
  const canvas = useRef(null);
  const space = useRef(null);
  const model = useRef(null);
  const [told, setTold] = useState("");
  const [listed, setListed] = useState([]);
  const [version, setVersion] = useState(0);
  const {hosts, pool: only, failed} = useHosts(api, pool);
  const ask = useSurface(box, canvas, (context, view) => model.current?.paint(context, view));
  const source = useMemo(
    () => follow(api, pool, () => roomIn(box.current.clientWidth - 2 * PAD, box.current.clientHeight), () => model.current?.changed()),
    [api, pool],
  );
  model.current ??= grid();
  const self = model.current;
  Object.assign(self, {ask, box, space, source, tell: setTold, list: setListed});
  self.renew = () => setVersion((before) => before + 1);

  useEffect(() => {
    const now = Date.now();
    source.want({begin: now - 1000, end: now});
    return source.stop;
  }, [source]);
  const search = scope.search.value;
  const project = scope.only.value;
  const selected = useMemo(
    () => shown(source.stays, {listed: hosts, only, pool, search, project}),
    [source, hosts, only, pool, search, project, version],
  );
  useEffect(
    () => self.show(selected, {outstanding: standsOut({search, project}), byStays: !hosts}),
    [selected],
  );

  const {read, error} = source.state.value;
  const move = (event) => self.point(event.offsetX, event.offsetY);
  const press = (event) => {
    if (ARROWS[event.key]) self.step(ARROWS[event.key]);
    else if (event.key === "Enter") open();
    else return;
    event.preventDefault();
  };
  const open = () => {
    const job = self.under()?.job;
    if (job) scope.open(job.uuid);
  };
  return html`
    <div class="tools legend">
      <${ProjectChoice} scope=${scope} projects=${[...source.stays.projects]} />
      <span><b>${selected.length}</b> ${selected.length === 1 ? "host" : "hosts"}</span>
      <span>A colour for each job, foreground above background</span>
      <span><i class="key foreign"></i>job of another project</span>
      <span><i class="key closed"></i>closed to the background</span>
      <span><i class="key place"></i>free</span>
      ${failed && html`<span>Only hosts with jobs: the ledger does not answer.</span>`}
    </div>
    ${error && !error.passes && html`<p class="alert" role="alert">${error.message}</p>`}
    <p class="told" role="status" tabindex="0">${told || (read ? "Point at a slot, or use the arrow keys; Enter opens its job." : "Reading the schedule…")}</p>
    <div class="stage" ref=${box}>
      <canvas ref=${canvas} class="slots" tabindex="0" role="application" aria-label="Slots of hosts"
        aria-roledescription="grid of slots, arrow keys move, Enter opens the job"
        onPointerMove=${move} onPointerLeave=${() => self.leave()} onKeyDown=${press}
        onClick=${(event) => { self.point(event.offsetX, event.offsetY); open(); }}></canvas>
      <div class="space" ref=${space}></div>
      ${read && !selected.length && html`<p class="none" role="status">${unmatched({search, project})}</p>`}
    </div>
    <${Listed} rows=${listed} ask=${() => self.table()} />`;
}

// The hosts in view as text.
function Listed({rows, ask}) {
  return html`
    <details class="text" onToggle=${(event) => event.target.open && ask()}>
      <summary>Hosts in view as a table</summary>
      <div class="wide"><table>
        <thead><tr><th scope="col">Host</th><th scope="col">Foreground</th><th scope="col">Background</th><th scope="col">Closed</th></tr></thead>
        <tbody>${rows.map((row) => html`
          <tr key=${row.name}><th scope="row">${row.name}</th>
            ${["fg", "bg"].map((tier) => html`<td key=${tier}>${row[tier].length
              ? row[tier].map(([uuid, label]) => html`${uuid ? html`<a href=${`#/job/${uuid}`}>${label}</a>` : label}${" "}`)
              : NOTHING}</td>`)}
            <td>${row.closed}</td></tr>`)}
        </tbody>
      </table></div>
    </details>`;
}

// What is painted, and where the cursor is: kept outside the component, which need not be rendered for it.
function grid() {
  const self = {ask: null, box: null, space: null, source: null, tell: null, list: null, renew: null};
  const painted = new Map();
  let hosts = [];
  let outstanding = null;
  let byStays = true;
  // Always that of the hosts, for keys that do not wait for the next painting. The pointer does: it points at what
  // is seen.
  let layout = arrange([], 0);
  let behind = true;
  let width = 0;
  let cursor = null;
  // The scrolled height and theme of the last painting.
  let top = 0;

  self.show = (some, options) => {
    const same = some.length === hosts.length && some.every((host, index) => alike(host, hosts[index]));
    const at = cursor && some.findIndex((host) => host.name === hosts[cursor.index].name);
    cursor = cursor && at >= 0 ? {...cursor, index: at} : null;
    hosts = some;
    outstanding = options.outstanding;
    byStays = options.byStays;
    if (!same) rearrange();
    self.ask(!same);
  };

  function rearrange() {
    layout = arrange(hosts, width - 2 * PAD);
    behind = true;
    if (self.space.current) self.space.current.style.height = `${layout.height + 2 * PAD}px`;
  }

  self.changed = () => {
    // Only then may there be other hosts, or wider ones.
    if (outstanding || byStays) self.renew();
    self.ask(false);
  };

  self.paint = (context, view) => {
    if (width !== view.width) {
      width = view.width;
      rearrange();
      view.whole = true;
    }
    top = view.top;
    behind = false;
    if (view.whole) {
      painted.clear();
      context.fillStyle = view.theme.back;
      context.fillRect(0, 0, view.width, view.height);
    }
    const wanted = looks(view);
    for (const name of changedIn(painted, wanted)) draw(context, view.theme, name, painted.get(name));
    measured(hosts.length > 0 && self.source.stays.count > 0);
  };

  // What each label and each cell in view looks like.
  function looks(view) {
    const {first, last} = visible(layout, view.top - PAD, view.top - PAD + view.height);
    const wanted = new Map();
    for (let index = first; index < last; index += 1) {
      const host = hosts[index];
      wanted.set(`${index}`, host.name + drainText(host));
      const closed = closedOf(host);
      for (let row = 0; row < host.tiers; row += 1) {
        for (let slot = 0; slot < host.slots; slot += 1) {
          const stay = holder(host, row, slot);
          const next = slot + 1 < host.slots ? holder(host, row, slot + 1) : null;
          const base = stay ? (stay.job ? colourOf(stay.job.number, view.theme.scheme) : view.theme.foreign) : view.theme.place;
          const pale = stay && outstanding && !outstanding(stay);
          const colour = pale ? mixed(base, view.theme.back, PALE) : base;
          const flags = [
            stay?.job && next?.job === stay.job ? "joined" : "",
            row > 0 && closed.has(placeOf(host, row, slot)) ? view.theme[stay ? "text" : "closed"] : "",
            cursor && cursor.index === index && cursor.row === row && cursor.slot === slot ? "cursor" : "",
          ];
          wanted.set(`${index}/${row}/${slot}`, [colour, ...flags].join(" "));
        }
      }
    }
    return wanted;
  }

  function draw(context, theme, name, look) {
    const [index, row, slot] = name.split("/").map(Number);
    if (row === undefined) {
      label(context, theme, index, look);
      return;
    }
    const {x, y} = cellAt(layout, index, row, slot);
    const {cell} = layout.sizes;
    const left = x + PAD;
    const up = y + PAD - top;
    const [colour, joined, closed, marked] = look.split(" ");
    context.fillStyle = theme.back;
    context.fillRect(left, up, layout.step, layout.step);
    context.fillStyle = colour;
    context.fillRect(left, up, joined ? layout.step : cell, cell);
    if (closed) hatch(context, left, up, cell, cell, closed);
    if (marked) {
      context.strokeStyle = theme.text;
      context.lineWidth = 2;
      context.strokeRect(left + 1, up + 1, cell - 2, cell - 2);
    }
  }

  function label(context, theme, index, text) {
    const {x, y} = corner(layout, index);
    const {label: height, between} = layout.sizes;
    const room = layout.tile.width - between;
    context.fillStyle = theme.back;
    context.fillRect(x + PAD, y + PAD - top, room, height);
    context.fillStyle = theme.text;
    context.font = FONT;
    context.textBaseline = "middle";
    context.fillText(fitting(context, text, room), x + PAD, y + PAD - top + height / 2 - 1);
  }

  function holder(host, row, slot) {
    return self.source.stays.holder(host.name, row ? "bg" : "fg", row ? placeOf(host, row, slot) : slot);
  }

  function closedOf(host) {
    const held = (place) => self.source.stays.holder(host.name, "bg", place) !== null;
    return host.closed ? closedPlaces(host.slots * (host.tiers - 1), host.closed * (host.tiers - 1), held) : NONE;
  }

  self.point = (x, y) => {
    if (!behind) put(hit(layout, hosts, x - PAD, y - PAD + top));
  };

  self.leave = () => put(null);

  self.step = (direction) => {
    if (!hosts.length) return;
    const {first} = visible(layout, top, top + 1);
    put(cursor ? beside(layout, hosts, cursor, direction) : {index: Math.min(first, hosts.length - 1), row: 0, slot: 0});
    const {y} = corner(layout, cursor.index);
    const box = self.box.current;
    const below = y + layout.tile.height + PAD;
    if (y < box.scrollTop) box.scrollTop = y;
    else if (below > box.scrollTop + box.clientHeight) box.scrollTop = below - box.clientHeight;
  };

  function put(cell) {
    if (cell?.index === cursor?.index && cell?.row === cursor?.row && cell?.slot === cursor?.slot) return;
    cursor = cell;
    self.tell(cell ? said() : "");
    self.ask(false);
  }

  self.under = () => (cursor ? holder(hosts[cursor.index], cursor.row, cursor.slot) : null);

  function said() {
    const host = hosts[cursor.index];
    const stay = self.under();
    const place = cursor.row ? placeOf(host, cursor.row, cursor.slot) : cursor.slot;
    const lane = {host: host.name + drainText(host), tier: cursor.row ? "bg" : "fg", slot: place};
    const closed = cursor.row && closedOf(host).has(place);
    if (stay) return `${whose(stay)}, ${where(lane)}, ${times(stay)}${closed ? "; closed to others" : ""}`;
    return `${closed ? "Closed" : "Free"}: ${where(lane)}`;
  }

  self.table = () => {
    const {first, last} = visible(layout, top, top + self.box.current.clientHeight);
    self.list(hosts.slice(first, Math.min(last, first + MOST_ROWS)).map((host) => {
      const jobs = (tier) => {
        const found = new Map();
        for (const lane of self.source.stays.lanes(host.name, tier)) {
          const stay = self.source.stays.holder(host.name, tier, lane.slot);
          if (stay) found.set(stay.job?.uuid ?? "", stay.job ? `${stay.job.label} ${stay.job.name}` : "of other projects");
        }
        return [...found];
      };
      return {name: host.name + drainText(host), fg: jobs("fg"), bg: jobs("bg"), closed: host.closed};
    }));
  };

  return self;
}

const NONE = new Set();

// Whether two hosts have tiles of the same size and name.
function alike(one, other) {
  return one.name === other.name && one.slots === other.slots && one.tiers === other.tiers;
}

// With more than two tiers, a slot has several places in the background, numbered tier by tier.
function placeOf(host, row, slot) {
  return row ? (row - 1) * host.slots + slot : slot;
}
