// The view Timeline: which jobs held, hold and are expected to hold the slots of hosts.
import {html, useEffect, useMemo, useRef, useState} from "./vendor/ui.js";
import {query, useLive} from "./client.js";
import {useMedia} from "./rows.js";
import {follow} from "./follow.js";
import {gantt} from "./gantt.js";
import {useHosts} from "./hosts.js";
import {ProjectChoice} from "./projects.js";
import {shown, standsOut, unmatched} from "./selection.js";
import {labelOf} from "./stays.js";
import {useSurface} from "./surface.js";

const HOUR = 3600_000;
const STEP = 0.15;
const CLOSER = 0.7;
// Waiting jobs to read; more have no room.
const MOST_PREDICTED = 100;
// Hosts that are in view at first, on most screens.
const TOP = 12;
const NARROW = "(max-width: 640px)";
const KEYS = {
  "+": (view) => view.zoom(CLOSER), "=": (view) => view.zoom(CLOSER), "-": (view) => view.zoom(1 / CLOSER),
  ArrowLeft: (view) => view.pan(-STEP), ArrowRight: (view) => view.pan(STEP),
  ArrowUp: (view) => view.scroll(-1), ArrowDown: (view) => view.scroll(1),
  Home: (view) => view.present(),
};
const BUTTONS = [
  {text: "−", title: "Zoom out (−)", act: KEYS["-"]}, {text: "+", title: "Zoom in (+)", act: KEYS["+"]},
  {text: "←", title: "Earlier (arrow left)", act: KEYS.ArrowLeft},
  {text: "→", title: "Later (arrow right)", act: KEYS.ArrowRight},
  {text: "Now", title: "Now: back to the present (Home)", act: KEYS.Home},
];

export function Timeline({api, scope}) {
  const pool = scope.pool.value;
  const search = scope.search.value;
  const project = scope.only.value;
  const box = useRef(null);
  const canvas = useRef(null);
  const model = useRef(null);
  const [told, setTold] = useState("");
  const [rows, setRows] = useState([]);
  const [version, setVersion] = useState(0);
  const narrow = useMedia(NARROW);
  const {hosts, pool: only, failed} = useHosts(api, pool);
  const expected = useLive(api, `/v1/schedule${query({part: "predicted", limit: MOST_PREDICTED, pool})}`);
  const ask = useSurface(box, canvas, (context, view) => model.current?.paint(context, view));
  const source = useMemo(() => follow(api, pool, () => TOP, () => changed()), [api, pool]);
  model.current ??= gantt(initial(narrow));
  const self = model.current;
  Object.assign(self, {ask, box, source, tell: setTold, narrow});
  const byStays = !hosts || Boolean(search || project);
  self.changed = () => (byStays ? setVersion((before) => before + 1) : ask());
  const changed = () => self.changed();
  const predicted = useMemo(() => expected.value.data?.predicted.map(waiting) ?? null, [expected.value.data]);
  const unread = Boolean(expected.value.data?.links.some(({rel}) => rel === "next"));
  const selected = useMemo(
    () => shown(source.stays, {listed: hosts, only, pool, search, project}),
    [source, hosts, only, pool, search, project, version],
  );
  useEffect(
    () => self.show(selected, {predicted, unread, outstanding: standsOut({search, project})}),
    [selected, predicted, unread],
  );
  useEffect(() => {
    self.want();
    // Time goes on.
    const timer = setInterval(() => document.hidden || self.tick(), 5000);
    return () => {
      clearInterval(timer);
      source.stop();
    };
  }, [source]);
  useEffect(() => self.listen(canvas.current, scope), []);

  const {reading, read, error} = source.state.value;
  const press = (event) => {
    const act = event.key === "Enter" ? () => self.open(scope) : KEYS[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    act(self);
    event.preventDefault();
  };
  return html`
    <div class="tools legend">
      <span class="buttons" role="group" aria-label="Time">${BUTTONS.map(({text, title, act}) => html`
        <button key=${text} type="button" title=${title} aria-label=${title} onClick=${() => act(self)}>${text}</button>`)}</span>
      <${ProjectChoice} scope=${scope} projects=${[...source.stays.projects]} />
      <span><b>${selected.length}</b> ${selected.length === 1 ? "host" : "hosts"}</span>
      <span><i class="key expected"></i>expected</span>
      <span><i class="key foreign"></i>job of another project</span>
      <span><b class="mark swap">⇅</b>swap</span> <span><b class="mark move">◆</b>move</span>
      <span><b class="mark eviction">✕</b>eviction</span>
      ${failed && html`<span>Only hosts with jobs: the ledger does not answer.</span>`}
    </div>
    ${error && !error.passes && html`<p class="alert" role="alert">${error.message}</p>`}
    <p class="told" role="status" tabindex="0">${told || (reading ? "Reading the schedule…" : "Point at a stay; drag or use the arrow keys to move, wheel or + and − to zoom.")}</p>
    <div class="stage" ref=${box}>
      <canvas ref=${canvas} class="slots" tabindex="0" role="application" aria-label="Schedule of slots"
        aria-roledescription="timeline, arrow keys move, plus and minus zoom" onKeyDown=${press}></canvas>
      <div class="space" style=${{height: `${self.height(selected)}px`}}></div>
      ${read && !selected.length && html`<p class="none" role="status">${unmatched({search, project}, predicted ?? [])}</p>`}
    </div>
    <details class="text" onToggle=${(event) => event.target.open && setRows(self.rows())}>
      <summary>Stays in view as a table</summary>
      <div class="wide"><table>
        <thead><tr><th scope="col">Job</th><th scope="col">Slot</th><th scope="col">When</th></tr></thead>
        <tbody>${rows.map((row) => html`
          <tr key=${row.key}><th scope="row">${row.uuid ? html`<a href=${`#/job/${row.uuid}`}>${row.whose}</a>` : row.whose}</th>
            <td>${row.where}</td><td>${row.when}</td></tr>`)}</tbody>
      </table></div>
    </details>`;
}

function initial(narrow) {
  const now = Date.now();
  const before = narrow ? 2 * HOUR : 4 * HOUR;
  return {begin: now - before, end: now + before / 2};
}

// A waiting job as it is painted.
function waiting(row) {
  const begin = Date.parse(row.from);
  return {
    begin, end: row.to ? Date.parse(row.to) : begin + HOUR, open: !row.to, size: row.size,
    job: row.job && {
      uuid: row.job.uuid, number: row.job.number, label: labelOf(row.job), name: row.job.name,
      project: row.job.project_id,
    },
  };
}

