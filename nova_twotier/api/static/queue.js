// The view of the queue: the jobs that wait or run, and why.
import {html, signal, useEffect, useMemo, useRef} from "./vendor/ui.js";
import {query, useLive} from "./client.js";
import {explanations} from "./explanations.js";
import {NOTHING, TIERS, between, clock, duration, exactly, label, since} from "./format.js";
import {useMedia, useWindow} from "./rows.js";

const WAITING = "queued";
const PHASES = {
  waiting: {title: "Waiting", takes: (job) => job.state === WAITING},
  running: {title: "Started", takes: (job) => job.state !== WAITING},
  all: {title: "All", takes: () => true},
};
// Pixels of a row, as style.css has them.
const HEIGHT = 74;
const HEIGHT_NARROW = 150;
const NARROW = "(max-width: 640px)";
const REFRESH = 5000;

// What a column sorts by; those without are not sorted by.
const COLUMNS = [
  {name: "position", title: "Position"},
  {name: "job", title: "Job", by: (job) => job.number},
  {name: "size", title: "Size", by: (job) => job.size},
  {name: "tier", title: "Tier", by: (job) => job.tier ?? ""},
  {name: "reason", title: "Reason", by: (job) => job.why?.code ?? ""},
  {name: "start", title: "Start", by: (job) => job.started_at ?? job.predicted_start ?? "~"},
  {name: "evictions", title: "Evictions", by: (job) => job.evictions},
  {name: "age", title: "Age", by: (job) => -Date.parse(job.submitted_at)},
];

// They outlast the view, so that who comes back from a job finds the list as it was.
const phase = signal("waiting");
const order = signal({name: "job", down: false});
const ownFirst = signal(true);

export function Queue({api, scope}) {
  const asked = query({active: true, collapsed: true, pool: scope.pool.value, all_projects: scope.all.value || null});
  const live = useLive(api, `/v1/jobs${asked}`, {pages: true});
  const explained = useMemo(() => explanations(api), [api]);
  const {data, error} = live.value;
  const all = data?.jobs ?? [];
  const project = scope.project.value;
  const search = scope.search.value;
  const found = useMemo(
    () => sorted(all.filter((job) => PHASES[phase.value].takes(job) && matches(job, search)), project),
    [data, phase.value, search, order.value, ownFirst.value, project],
  );
  const counts = Object.entries(PHASES).map(([name, each]) => [name, all.filter(each.takes).length]);
  return html`
    <div class="tools">
      <fieldset class="choice">
        <legend class="hidden">Jobs to show</legend>
        ${counts.map(([name, count]) => html`
          <label key=${name}>
            <input type="radio" name="phase" value=${name} checked=${phase.value === name}
              onChange=${() => { phase.value = name; }} />
            <span>${PHASES[name].title} <b>${count}</b></span>
          </label>`)}
      </fieldset>
      ${scope.all.value && html`
        <label class="check">
          <input type="checkbox" checked=${ownFirst.value}
            onChange=${(event) => { ownFirst.value = event.target.checked; }} />
          Own jobs first
        </label>`}
    </div>
    ${error && !error.passes && html`<p class="alert" role="alert">${error.message}</p>`}
    <${Table} jobs=${found} loading=${!data && !error} explained=${explained} project=${project} />`;
}

function matches(job, search) {
  const sought = search.trim().toLowerCase();
  if (!sought) return true;
  const texts = [label(job), job.name, job.uuid, job.user_id, job.project_id, job.why?.code, job.reason];
  return texts.some((text) => text && text.toLowerCase().includes(sought));
}

function sorted(jobs, project) {
  const {name, down} = order.value;
  const {by} = COLUMNS.find((column) => column.name === name);
  const sign = down ? -1 : 1;
  const others = (job) => (ownFirst.value && job.project_id !== project ? 1 : 0);
  const keyed = jobs.map((job) => [others(job), by(job), job]);
  keyed.sort(([a, x, one], [b, y, other]) => a - b || sign * (x < y ? -1 : x > y ? 1 : 0) || one.number - other.number);
  return keyed.map(([, , job]) => job);
}

function Table({jobs, loading, explained, project}) {
  const box = useRef(null);
  const height = useMedia(NARROW) ? HEIGHT_NARROW : HEIGHT;
  const {first, last, above, below} = useWindow(box, jobs.length, height);
  const shown = jobs.slice(first, last);
  const waiting = shown.filter((job) => job.state === WAITING).map((job) => job.uuid);
  useEffect(() => {
    explained.want(waiting);
    const timer = setInterval(() => document.hidden || explained.want(waiting), REFRESH);
    return () => clearInterval(timer);
  }, [waiting.join(" ")]);
  // On narrow screens style.css lays the table out as a list; the roles say that it still is a table.
  return html`
    <div class="scroll" ref=${box} tabindex="0" role="region" aria-label="Jobs">
      <table class="jobs" role="table" aria-rowcount=${jobs.length + 1}>
        <thead role="rowgroup"><tr role="row">${COLUMNS.map((column) => html`<${Head} key=${column.name} column=${column} />`)}</tr></thead>
        <tbody role="rowgroup">
          ${above > 0 && html`<tr class="space" aria-hidden="true"><td colspan=${COLUMNS.length} style=${{height: `${above}px`}}></td></tr>`}
          ${shown.map((job, index) => html`
            <${Row} key=${job.uuid} job=${job} index=${first + index + 2} own=${job.project_id === project}
              explanation=${explained.of(job.uuid)} />`)}
          ${below > 0 && html`<tr class="space" aria-hidden="true"><td colspan=${COLUMNS.length} style=${{height: `${below}px`}}></td></tr>`}
        </tbody>
      </table>
      ${!jobs.length && html`<p class="empty">${loading ? "Reading the jobs…" : "There are no such jobs."}</p>`}
    </div>`;
}

function Head({column}) {
  const {name, down} = order.value;
  const current = name === column.name;
  const turn = () => { order.value = {name: column.name, down: current && !down}; };
  const sort = current ? (down ? "descending" : "ascending") : undefined;
  return html`
    <th scope="col" role="columnheader" class=${`c-${column.name}`} aria-sort=${sort}>
      ${column.by
        ? html`<button type="button" onClick=${turn}>${column.title}<span aria-hidden="true">${current ? (down ? " ↓" : " ↑") : ""}</span></button>`
        : column.title}
    </th>`;
}

function Row({job, index, own, explanation}) {
  const told = job.state === WAITING ? explanation.value : undefined;
  const unblock = told?.unblock;
  return html`
    <tr class=${own ? "own" : ""} role="row" aria-rowindex=${index}>
      <td role="cell" class="c-position" data-title="Position">${told?.position ?? NOTHING}</td>
      <th scope="row" role="rowheader" class="c-job">
        <a href=${`#/job/${job.uuid}`}><span class="number">${label(job)}</span> ${job.name}</a>
        <small>${job.user_id}${own ? "" : ` · ${job.project_id}`}${job.qos === "normal" ? "" : ` · ${job.qos}`}</small>
      </th>
      <td role="cell" class="c-size" data-title="Size">${job.size}</td>
      <td role="cell" class="c-tier" data-title="Tier">${TIERS[job.tier] ?? NOTHING}</td>
      <td role="cell" class="c-reason" title=${[job.reason, unblock?.text].filter(Boolean).join("\n")}>
        <span class="text">${job.reason || job.state}</span>
        <small>${job.why && html`<code>${job.why.code}</code> `}${unblock && html`<span>${unblock.text}</span>`}</small>
      </td>
      <td role="cell" class="c-start" data-title="Start">${startOf(job)}</td>
      <td role="cell" class="c-evictions" data-title="Evictions">${job.evictions}</td>
      <td role="cell" class="c-age" data-title="Age" title=${exactly(job.submitted_at)}>${duration(since(job.submitted_at))}</td>
    </tr>`;
}

function startOf(job) {
  if (job.state !== WAITING) return html`<span title=${exactly(job.started_at)}>${clock(job.started_at)}</span>`;
  if (!job.predicted_start) return html`<small title=${job.unpredicted?.text}>${job.unpredicted?.text ?? "not predicted"}</small>`;
  return html`
    <span title=${exactly(job.predicted_start)}>${clock(job.predicted_start)}</span>
    <small>${between(job.predicted_start_low, job.predicted_start_high)}</small>`;
}
