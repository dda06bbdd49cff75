// The view of a job: what it does, why, what happened to it, and what may be asked of it.
import {html, useEffect, useRef, useSignal} from "./vendor/ui.js";
import {useLive} from "./client.js";
import {NOTHING, TIERS, between, duration, exactly, label, processes, since} from "./format.js";
import {Profile} from "./profile.js";

const OVER = ["finished", "failed", "cancelled"];
const WAITING = "queued";
// Processes that the page lists.
const MOST = 200;

export function Job({api, id}) {
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  const live = useLive(api, path);
  const why = useLive(api, `${path}/explain`);
  const {data: job, error} = live.value;
  const refused = error && !error.passes ? error.message : "";
  if (!job) return html`<p class=${refused ? "alert" : "empty"} role="status">${refused || "Reading the job…"}</p>`;
  const told = why.value.data;
  return html`
    <article class="job">
      <header>
        <h2><span class="number">${label(job)}</span> ${job.name}</h2>
        <p class="state"><span class=${`badge ${job.state}`}>${job.state}</span>
          ${job.held && html`<span class="badge">held</span>`}
          ${job.asked_to && html`<span class="badge">asked to ${job.asked_to}</span>`}
        </p>
        ${refused && html`<p class="alert" role="alert">${refused}</p>`}
      </header>
      <${Actions} api=${api} job=${job} path=${path} done=${() => { live.poll(); why.poll(); }} />
      <div class="columns">
        <div>
          <${Reason} job=${job} told=${told} />
          <section aria-labelledby="cpu"><h3 id="cpu">CPU</h3><${Profile} job=${job} /></section>
          <${Facts} job=${job} told=${told} />
          <${Processes} job=${job} />
        </div>
        <${Events} events=${told?.events ?? []} />
      </div>
    </article>`;
}

function Reason({job, told}) {
  return html`
    <section aria-labelledby="why">
      <h3 id="why">Why</h3>
      <p>${told?.reason ?? (job.reason || job.state)}${" "}${job.why && html`<code>${job.why.code}</code>`}<${By} why=${job.why} /></p>
      ${told?.cure && html`<p>${told.cure}</p>`}
      ${told?.unblock && html`<p>Expected: ${told.unblock.text}${" "}<code>${told.unblock.code}</code><${By} why=${told.unblock} /></p>`}
    </section>`;
}

// A link to the job that a reason names, if the reader may know of it.
function By({why}) {
  return why?.by ? html`${" "}<a href=${`#/job/${why.by}`}>job ${why.by_number}</a>` : null;
}

function Facts({job, told}) {
  const runs = job.run_since ? job.run_before + Math.max(0, since(job.run_since)) : job.run_before;
  const predicted = (kind) => {
    const [at, low, high] = ["", "_low", "_high"].map((each) => job[`predicted_${kind}${each}`]);
    if (!at) return job.unpredicted?.text ?? NOTHING;
    // There may be no interval yet.
    const interval = between(low, high);
    return interval ? `${exactly(at)} (${interval})` : exactly(at);
  };
  const facts = [
    ["Position", job.state === WAITING ? told?.position ?? NOTHING : null],
    ["Size", processes(job.size)],
    ["Tier", job.tier && TIERS[job.tier]],
    ["Pool", job.pool],
    ["Class", job.qos],
    ["User", job.user_id],
    ["Project", job.project_id],
    ["Submitted", `${exactly(job.submitted_at)}, ${duration(since(job.submitted_at))} ago`],
    ["Started", job.started_at && `${exactly(job.started_at)}${job.start ? `, ${job.start}` : ""}`],
    ["Finished", job.finished_at && exactly(job.finished_at)],
    ["Exit status", job.exit_status],
    ["Expected start", job.state === WAITING ? predicted("start") : null],
    ["Expected end", OVER.includes(job.state) ? null : predicted("finish")],
    ["Has run", job.started_at && duration(runs)],
    ["In the foreground", job.started_at && duration(job.foreground_elapsed)],
    ["In the background", job.started_at && duration(job.background_elapsed)],
    ["Estimate", job.estimate && duration(job.estimate)],
    ["Walltime", job.walltime && duration(job.walltime)],
    ["Evictions", job.evictions],
    ["Migrations", job.migrations || null],
    ["Swaps", job.swaps || null],
    ["Failures", job.failures || null],
    ["Flavor", job.flavor],
    ["Uuid", job.uuid],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  return html`
    <section aria-labelledby="facts">
      <h3 id="facts">Facts</h3>
      <dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    </section>`;
}

function Processes({job}) {
  const {servers} = job;
  const hosts = servers.some((server) => "host" in server);
  return html`
    <section aria-labelledby="processes">
      <h3 id="processes">Processes</h3>
      ${servers.length === 0 ? html`<p class="muted">It has no servers.</p>` : html`
        <div class="wide" tabindex="0" role="region" aria-labelledby="processes"><table class="processes">
          <thead><tr><th scope="col">Server</th><th scope="col">Tier</th>${hosts && html`<th scope="col">Host</th>`}
            <th scope="col">Since</th><th scope="col">Until</th></tr></thead>
          <tbody>${servers.slice(0, MOST).map((server) => html`
            <tr key=${server.uuid}><th scope="row">${server.name}</th><td>${TIERS[server.tier]}</td>${hosts && html`<td>${server.host}</td>`}
              <td>${exactly(server.since)}</td><td>${server.until ? exactly(server.until) : NOTHING}</td></tr>`)}</tbody>
        </table></div>`}
      ${servers.length > MOST && html`<p class="muted">and ${servers.length - MOST} more</p>`}
    </section>`;
}

// Who asked for an event; who submitted a job is told above.
function asker({kind, asked_by: asked}) {
  return asked && kind !== "submitted" ? ` by ${asked.user_id ?? "an operator"} ` : " ";
}

function Events({events}) {
  return html`
    <section aria-labelledby="events">
      <h3 id="events">Events</h3>
      <ol class="events">${[...events].reverse().map((event, index) => html`
        <li key=${events.length - index}>
          <time datetime=${event.at}>${exactly(event.at)}</time> <b>${event.kind}</b>${asker(event)}
          ${event.detail}<${By} why=${event.why} />
        </li>`)}</ol>
      ${events.length === 0 && html`<p class="muted">Nothing has happened yet.</p>`}
    </section>`;
}

function Actions({api, job, path, done}) {
  const said = useSignal("");
  const busy = useSignal(false);
  const asking = useSignal(false);
  if (OVER.includes(job.state)) return null;

  async function act(request) {
    busy.value = true;
    said.value = "";
    try {
      await request();
      done();
    } catch (error) {
      if (error.status === undefined) throw error;
      said.value = error.message;
    } finally {
      busy.value = false;
    }
  }

  const button = (title, request) =>
    html`<button type="button" disabled=${busy.value} onClick=${() => act(request)}>${title}</button>`;
  return html`
    <div class="actions" role="group" aria-label="Actions">
      ${job.held
        ? button("Release", () => api.post(`${path}/release`))
        : button("Hold", () => api.post(`${path}/hold`))}
      ${job.started_at && button("Complete", () => api.post(`${path}/complete`))}
      <button type="button" class="danger" disabled=${busy.value} onClick=${() => { asking.value = true; }}>Cancel job…</button>
      ${asking.value && html`
        <${Confirm} question=${`Cancel job ${label(job)}? Its servers are deleted.`} yes="Cancel the job" no="Keep it"
          answer=${(confirmed) => { asking.value = false; if (confirmed) act(() => api.delete(path)); }} />`}
      ${said.value && html`<p class="alert" role="alert">${said.value}</p>`}
    </div>`;
}

function Confirm({question, yes, no, answer}) {
  const dialog = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  return html`
    <dialog ref=${dialog} aria-labelledby="question" onClose=${() => answer(dialog.current.returnValue === "yes")}>
      <p id="question">${question}</p>
      <div class="actions">
        <button type="button" onClick=${() => dialog.current.close("")}>${no}</button>
        <button type="button" class="danger" onClick=${() => dialog.current.close("yes")}>${yes}</button>
      </div>
    </dialog>`;
}
