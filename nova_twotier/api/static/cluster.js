// The view Cluster: how full the slots were over time, how long the queue, and what was lost.
import {html, signal, useMemo, useRef, useState} from "./vendor/ui.js";
import {Chart} from "./chart.js";
import {query, useLive} from "./client.js";
import {amount, clock, duration, processes} from "./format.js";
import {CHARTS, RANGES, figures, intervalAt, lostShare, number, percent, seconds, share} from "./history.js";

const TIERS = ["foreground", "background"];
const UNIT = {hour: "of the last hour", day: "of the last day", week: "of the last week", month: "of the last 30 days"};

// It outlasts the view.
const range = signal("day");

export function Cluster({api, scope}) {
  const pool = scope.pool.value;
  const live = useLive(api, `/v1/utilisation${query({last: RANGES[range.value].seconds, pool})}`);
  const {data: fresh, error} = live.value;
  const last = useRef(null);
  if (fresh) last.current = {data: fresh, unit: UNIT[range.value]};
  const refused = error && !error.passes;
  // Those of the range before stay until others are there.
  const {data, unit} = (!refused && last.current) || {};
  const [pointed, setPointed] = useState(null);
  const told = useMemo(() => (data && pointed !== null ? said(data, pointed) : ""), [data, pointed]);
  return html`
    <div class="tools">
      <fieldset class="choice">
        <legend class="hidden">Range</legend>
        ${Object.entries(RANGES).map(([name, {title}]) => html`
          <label key=${name}>
            <input type="radio" name="range" value=${name} checked=${range.value === name}
              onChange=${() => { range.value = name; }} />
            <span>${title}</span>
          </label>`)}
      </fieldset>
      ${data?.summary && html`<span class="muted">${counted(data, unit)}</span>`}
    </div>
    ${refused && html`<p class="alert" role="alert">${error.message}</p>`}
    ${data && !data.summary && html`
      <p class="empty" role="status">No queue manager has counted in this range: there is nothing to show.</p>`}
    ${!data && !refused && html`<p class="empty" role="status">Reading the history…</p>`}
    ${data?.summary && html`
      <p class="told values" role="status">${told || "Point at a chart, or use the arrow keys in it, to read its values."}</p>
      <div class="charts" aria-busy=${!fresh}>${CHARTS.map((chart) => html`
        <${Section} key=${chart.name} chart=${chart} data=${data} pointed=${setPointed} />`)}</div>`}`;
}

function Section({chart, data, pointed}) {
  const {name, title} = chart;
  const rows = figures(data, chart);
  const tier = TIERS.includes(name);
  const total = rows[0].total !== undefined;
  return html`
    <section class="chart" aria-labelledby=${`chart-${name}`}>
      <h2 id=${`chart-${name}`}>${title}</h2>
      <${Chart} chart=${chart} answer=${data} label=${`${title} over time`} pointed=${pointed} />
      <div class="wide"><table class="figures">
        <thead><tr><th scope="col"><span class="hidden">Series</span></th>${total
          ? html`<th scope="col">Total</th><th scope="col">Of the time in slots</th>`
          : html`<th scope="col">Now</th><th scope="col">Mean</th><th scope="col">Most</th>`}</tr></thead>
        <tbody>
          ${rows.map((row, index) => html`
            <tr key=${row.title}>
              <th scope="row"><i class=${`key ${total ? "lost" : index ? "second" : "first"}`}></i>${row.title}</th>
              ${total
                ? html`<td>${number(row.total)}</td><td>${percent(lostShare(data))}</td>`
                : html`<td>${number(row.now)}</td><td>${number(row.mean)}</td><td>${number(row.most)}</td>`}
            </tr>`)}
          ${tier && html`
            <tr><th scope="row">Used of open</th><td>${percent(share(data.latest, name))}</td>
              <td>${percent(share(data.summary, name))}</td><td></td></tr>`}
        </tbody>
      </table></div>
    </section>`;
}

// Of how much of the range there is something to show, and of which pools.
function counted({from, to, summary, pools, latest}, unit) {
  const whole = Math.min(Date.now() / 1000, seconds(to)) - seconds(from);
  const parts = [`Counted in ${duration(Math.min(summary.seconds, whole))} ${unit}`];
  if (summary.seconds < whole - 120) parts.push("gaps: no queue manager counted");
  if (pools.length > 1) parts.push(`sum of the pools ${pools.join(", ")}`);
  if (!latest) parts.push("nobody has counted in the last minutes");
  return `${parts.join("; ")}.`;
}

function said(data, time) {
  const {begin, row} = intervalAt(data, time);
  const when = `${clock(1000 * begin)} – ${clock(1000 * (begin + data.interval))}`;
  if (!row) return `${when}: nothing was counted`;
  const tiers = TIERS.map((tier) => `${number(row[tier].used)} of ${number(row[tier].open)} open ${tier} slots used`);
  return `${when}: ${tiers.join(", ")}; ${amount(number(row.jobs.waiting), "job")} with ${processes(number(row.processes.waiting))} waited; ${amount(number(row.lost / 3600), "slot-hour")} lost`;
}
