// The view of the queue: the jobs that wait or run, and why. The API sorts and searches them; the page
// has those around what is in view.
import {html, signal, useEffect, useRef, useState} from "./vendor/ui.js";
import {query, useLive} from "./client.js";
import {NOTHING, TIERS, between, clock, duration, exactly, label, processes, since} from "./format.js";
import {ProjectChoice} from "./projects.js";
import {useMedia, useWindow} from "./rows.js";
import {arrived, painted} from "./timing.js";

const JOBS = "/v1/queue/jobs";
const WAITING = "queued";
// The code of what the start of a waiting job depends on: the end of another one.
const STARTS_AFTER = "starts-after";
const PHASES = {waiting: "Waiting", started: "Started", all: "All"};
// Pixels of a row, as style.css has them.
const HEIGHT = 74;
const HEIGHT_NARROW = 150;
const NARROW = "(max-width: 640px)";
// Rows that are asked for, more of them on tall screens, and so many before the first in view, in such steps.
const ROWS = 60;
const STEP = 15;

// The columns by what the API sorts by.
const COLUMNS = [
  {name: "position", title: "Position"},
  {name: "job", title: "Job", key: "number"},
  {name: "size", title: "Size"},
  {name: "tier", title: "Tier"},
  {name: "reason", title: "Reason"},
  {name: "start", title: "Start"},
  {name: "evictions", title: "Evictions"},
  {name: "age", title: "Age"},
];

// They outlast the view, so that who comes back from a job finds the list as it was.
const phase = signal("waiting");
const order = signal({name: "position", down: false});
const ownFirst = signal(true);

export function Queue({api, scope}) {
  const {name, down} = order.value;
  const which = {
    all_projects: scope.all.value || null, own_first: (scope.all.value && ownFirst.value) || null,
    pool: scope.pool.value, project_id: scope.only.value, phase: phase.value === "all" ? null : phase.value,
    search: scope.search.value.trim(), sort_dir: down ? "desc" : null,
    sort_key: COLUMNS.find((column) => column.name === name).key ?? name,
  };
  const asked = query(which);
  const [top, setTop] = useState({asked, row: 0, rows: ROWS});
  // Another question begins at the top.
  const row = top.asked === asked ? top.row : 0;
  const {rows} = top;
  const live = useLive(api, `${JOBS}${query({...which, offset: row || null, limit: rows})}`);
  const {data, error} = live.value;
  // What is known is shown until the next answer is there.
  const last = useRef({row: 0, data: undefined});
  // The most rows that the API gives at once, if that is fewer than were asked for.
  const most = useRef(Infinity);
  if (data && data !== last.current.data) {
    arrived(performance.now());
    last.current = {row, data};
    const given = data.jobs.length;
    if (given > 0 && given < rows && row + given < data.total) most.current = given;
    // A job had ended between the counts and the rows of an answer before.
    else if (given > most.current) most.current = Infinity;
  }
  const known = last.current;
  useEffect(() => {
    const frame = requestAnimationFrame(() => painted(known.data !== undefined));
    return () => cancelAnimationFrame(frame);
  }, [known.data]);
  const counts = known.data?.counts ?? {waiting: 0, started: 0};
  const numbers = {...counts, all: counts.waiting + counts.started};
  return html`
    <div class="tools">
      <fieldset class="choice">
        <legend class="hidden">Jobs to show</legend>
        ${Object.entries(PHASES).map(([each, title]) => html`
          <label key=${each}>
            <input type="radio" name="phase" value=${each} checked=${phase.value === each}
              onChange=${() => { phase.value = each; }} />
            <span>${title} <b>${numbers[each]}</b></span>
          </label>`)}
      </fieldset>
      <${ProjectChoice} scope=${scope} projects=${known.data?.projects ?? []} />
      ${scope.all.value && html`
        <label class="check">
          <input type="checkbox" checked=${ownFirst.value}
            onChange=${(event) => { ownFirst.value = event.target.checked; }} />
          Own jobs first
        </label>`}
    </div>
    ${error && !error.passes && html`<p class="alert" role="alert">${error.message}</p>`}
    <${Table} asked=${asked} most=${most.current} known=${known} loading=${!known.data && (!error || error.passes)} project=${scope.project.value}
      want=${(first, end, seen) => need(first, end, row, Math.min(rows, most.current))
        && setTop({asked, ...around(first, end, seen, most.current)})} />`;
}

// Whether rows from `first` until before `end` are not among the `rows` asked for from `row` on.
function need(first, end, row, rows) {
  return first < row || end > row + rows;
}

// The rows to ask for, that those from `first` until before `end` are among them; or, if the API gives fewer, those from
// `seen` on, the first in view.
function around(first, end, seen, most) {
  const rows = Math.max(ROWS, Math.ceil((end - first) / STEP + 2) * STEP);
  const row = most < rows ? seen : Math.floor(first / STEP - 1) * STEP;
  return {row: Math.max(0, row), rows};
}

function Table({asked, most, known, loading, project, want}) {
  const box = useRef(null);
  const height = useMedia(NARROW) ? HEIGHT_NARROW : HEIGHT;
  const count = known.data?.total ?? 0;
  const {first, last, seen, above, below} = useWindow(box, count, height);
  useEffect(() => want(first, last, seen), [first, last, most, most < Infinity && seen]);
  useEffect(() => { box.current.scrollTop = 0; }, [asked]);
  const shown = [];
  for (let index = first; index < last; index += 1) shown.push([index, known.data.jobs[index - known.row]]);
  // On narrow screens style.css lays the table out as a list; the roles say that it still is a table.
  return html`
    <div class="scroll" ref=${box} tabindex="0" role="region" aria-label="Jobs">
      <table class="jobs" role="table" aria-rowcount=${count + 1}>
        <thead role="rowgroup"><tr role="row">${COLUMNS.map((column) => html`<${Head} key=${column.name} column=${column} />`)}</tr></thead>
        <tbody role="rowgroup">
          ${above > 0 && html`<${Space} height=${above} />`}
          ${shown.map(([index, job]) => job
            ? html`<${Row} key=${job.uuid} job=${job} index=${index + 2} own=${job.project_id === project} />`
            : html`<${Space} key=${index} height=${height} />`)}
          ${below > 0 && html`<${Space} height=${below} />`}
        </tbody>
      </table>
      ${!count && html`<p class="empty">${loading ? "Reading the jobs…" : "There are no such jobs."}</p>`}
    </div>`;
}

// What is out of view, or has not arrived yet.
function Space({height}) {
  return html`<tr class="space" aria-hidden="true"><td colspan=${COLUMNS.length} style=${{height: `${height}px`}}></td></tr>`;
}

function Head({column}) {
  const {name, down} = order.value;
  const current = name === column.name;
  const turn = () => {
    const before = order.value;
    order.value = {name: column.name, down: before.name === column.name && !before.down};
  };
  const sort = current ? (down ? "descending" : "ascending") : undefined;
  return html`
    <th scope="col" role="columnheader" class=${`c-${column.name}`} aria-sort=${sort}>
      <button type="button" onClick=${turn}>${column.title}<span aria-hidden="true">${current ? (down ? " ↓" : " ↑") : ""}</span></button>
    </th>`;
}

function Row({job, index, own}) {
  const {unblock} = job;
  return html`
    <tr class=${own ? "own" : ""} role="row" aria-rowindex=${index}>
      <td role="cell" class="c-position" data-title="Position">${job.position ?? NOTHING}</td>
      <th scope="row" role="rowheader" class="c-job">
        <a href=${`#/job/${job.uuid}`}><span class="number">${label(job)}</span> ${job.name}</a>
        <small>${[job.user_id, !own && job.project_id, job.qos !== "normal" && job.qos].filter(Boolean).join(" · ")}</small>
      </th>
      <td role="cell" class="c-size" data-title="Size">${job.size}</td>
      <td role="cell" class="c-tier" data-title="Tier">${TIERS[job.tier] ?? NOTHING}</td>
      <td role="cell" class="c-reason" title=${[job.reason, unblock?.text].filter(Boolean).join("\n")}>
        <span class="text">${job.reason || job.state}</span>
        <small>${job.why && html`<code>${job.why.code}</code> `}${unblock && html`<span>${expected(unblock)}</span>`}</small>
      </td>
      <td role="cell" class="c-start" data-title="Start">${startOf(job)}</td>
      <td role="cell" class="c-evictions" data-title="Evictions">${job.evictions}</td>
      <td role="cell" class="c-age" data-title="Age" title=${exactly(job.submitted_at)}>${duration(since(job.submitted_at))}</td>
    </tr>`;
}

// How long first: what comes after it may have no room. All of it is in the tooltip, and on the job's page.
function expected({code, text, parameters, by_number: number}) {
  if (code !== STARTS_AFTER) return text;
  const {wait, smaller} = parameters;
  const other = (number ?? null) === null ? "a job of another project" : `job ${number}`;
  return `expected in ${wait}, when ${other} leaves${smaller ? `; with ${processes(smaller)} it would start now` : ""}`;
}

function startOf(job) {
  if (job.state !== WAITING) return html`<span title=${exactly(job.started_at)}>${clock(job.started_at)}</span>`;
  if (!job.predicted_start) {
    const why = job.unpredicted?.text ?? "not predicted";
    // The column beside it says so already.
    return why === job.reason ? NOTHING : html`<small title=${why}>${why}</small>`;
  }
  return html`
    <span title=${exactly(job.predicted_start)}>${clock(job.predicted_start)}</span>
    <small>${between(job.predicted_start_low, job.predicted_start_high)}</small>`;
}
