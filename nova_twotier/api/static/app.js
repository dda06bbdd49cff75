// The board: who looks at it, which view is shown, and what the views share.
import {html, render, signal, useEffect, useRef, useSignal} from "./vendor/ui.js";
import {LATE_SAID, client} from "./client.js";
import {Login} from "./login.js";
import {SESSION, secret} from "./session.js";
import {begun, shown} from "./timing.js";
import {VIEWS} from "./views.js";
import {Projects, arrival} from "./websso.js";

const NOAUTH = "noauth";
// A token of noauth: user, project, roles.
const SOMEBODY = /^[\w.@-]{1,64}(:[\w.@-]{1,64}(:[\w,-]+)?)?$/;
const FORMS = "user, user:project or user:project:role,role";
const FIRST = Object.keys(VIEWS)[0];
// What the API answers if it may be able to answer later: too many requests, or its database is away.
const LATER = [429, 503];
const ENDED = "Open the address that the command “openstack twotier board” printed when it was started.";

// Nowhere but in memory.
let token = "";
// What a single sign-on has brought, until a project is chosen: `{token, notice}`.
const arrived = signal(arrival());
const secretOfPage = secret();
// Who looks: `{token, user, project}`; null: nobody has logged in.
const session = signal(null);
const notice = signal(arrived.value?.notice ?? "");
// How one logs in, as the API says; null: not known yet.
const settings = signal(null);
const route = signal(read(location.hash));
const pools = signal([]);

const api = client({
  token: () => token,
  unauthorized: () => leave(ways() === SESSION ? ENDED : "The API no longer takes your token. Log in again to go on here."),
});

const scope = {
  // The pool that is looked at; empty: all pools.
  pool: signal(""),
  search: signal(""),
  // The id of the project whose jobs are looked at, of those that the reader may see; empty: of all.
  only: signal(""),
  // Whether the reader sees the jobs of all projects.
  all: signal(false),
  // The id of the reader's project.
  project: signal(""),
  open: (job) => { location.hash = `#/job/${encodeURIComponent(job)}`; },
};

addEventListener("hashchange", () => { route.value = read(location.hash); });

function read(hash) {
  const [name, rest = ""] = hash.replace(/^#\/?/, "").split("/");
  const id = decoded(rest);
  // In the address of a request, dots alone would be a step up.
  const known = Object.hasOwn(VIEWS, name) && (!VIEWS[name].apart || /[^.]/.test(id));
  return known ? {name, id} : {name: FIRST, id: ""};
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function ways() {
  return settings.value?.auth_strategy;
}

function leave(why) {
  token = "";
  arrived.value = null;
  session.value = null;
  notice.value = why;
}

// The next one at this page finds all jobs that may be seen, and begins where everybody does.
function logOut() {
  leave("");
  for (const chosen of [scope.pool, scope.search, scope.only]) chosen.value = "";
  pools.value = [];
  location.hash = "";
}

async function enter(who) {
  token = who.token;
  // Nothing of the one who looked before is shown with the new token.
  session.value = null;
  notice.value = "";
  // All that is shown later depends on it, so it waits until the API can say.
  const all = await answers("/v1/jobs?all_projects=true&limit=1", LATER) !== null;
  // The API may have refused the token, or somebody else may have entered meanwhile.
  if (token !== who.token) return;
  // Who logs in again goes on with the project that was chosen.
  if (!all || who.project.id !== scope.project.value) scope.only.value = "";
  scope.project.value = who.project.id;
  scope.all.value = all;
  session.value = who;
  arrived.value = null;
  begun();
  await shown;
  const found = await answers("/v1/pools");
  pools.value = (found?.pools ?? []).map((pool) => pool.name);
}

// The answer, or null if it is refused: then the page shows less. Without a connection, or while the API answers with
// one of the statuses `later`, it waits.
async function answers(path, later = []) {
  try {
    return await api.patient(path, {waits: ({gone, status}) => gone || later.includes(status)});
  } catch (error) {
    if (error.status === undefined) throw error;
    return null;
  }
}

function somebody(token) {
  const [user, project = user] = token.split(":");
  return {token, user: {id: user, name: user}, project: {id: project, name: project}};
}

async function start() {
  settings.value = await api.patient("/board/settings.json");
  if (ways() === NOAUTH) await enter(somebody("admin"));
  if (ways() === SESSION) await resume();
}

// The command that serves the page knows who looks.
async function resume() {
  token = secretOfPage;
  const who = await answers("/board/session.json");
  if (who) await enter({...who, token: secretOfPage});
  else leave(ENDED);
}

function App() {
  const who = session.value;
  const {name, id} = route.value;
  const {title, view: View, seeks} = VIEWS[name];
  const main = useRef(null);
  const before = useRef(name + id);
  useEffect(() => {
    document.title = `${title} · twotier board`;
    // A reader of the screen learns that the view has changed.
    if (before.current !== name + id) main.current.focus();
    before.current = name + id;
  }, [name, id]);
  const key = `${who?.token} ${name} ${id}`;
  return html`
    <button type="button" class="skip" onClick=${() => main.current.focus()}>Skip to the content</button>
    <header class="top">
      <h1>twotier</h1>
      ${who && html`<${Navigation} name=${name} /><${Chooser} seeks=${seeks} /><${Who} who=${who} />`}
    </header>
    ${ways() === NOAUTH && html`<${Noauth} who=${who} />`}
    <p class="lost" role="status">${api.lost.value ? lost(api.lost.value) : ""}</p>
    <main ref=${main} tabindex="-1" aria-label=${title}>
      ${who && html`<${View} key=${key} api=${api} scope=${scope} id=${id} />`}
      ${!who && html`<${Entrance} />`}
    </main>`;
}

// What is shown to those who have not logged in.
function Entrance() {
  if (ways() === "keystone") {
    return arrived.value?.token
      ? html`<${Projects} api=${api} token=${arrived.value.token} entered=${enter} refused=${leave} />`
      : html`<${Login} api=${api} choices=${settings.value.websso} notice=${notice.value} entered=${enter} />`;
  }
  return notice.value && html`<p class="empty" role="status">${notice.value}</p>`;
}

function lost({error, old}) {
  const why = error.late ? LATE_SAID : error.gone ? "Connection lost." : `The API says: ${error.message}.`;
  return `${why} ${old ? "What you see is old; trying again…" : "Trying again…"}`;
}

function Navigation({name}) {
  const listed = Object.entries(VIEWS).filter(([, each]) => !each.apart);
  return html`
    <nav aria-label="Views">${listed.map(([each, {title}]) => html`
      <a key=${each} href=${`#/${each}`} aria-current=${each === name ? "page" : undefined}>${title}</a>`)}</nav>`;
}

function Chooser({seeks}) {
  return html`
    <form class="chooser" role="search" onSubmit=${(event) => event.preventDefault()}>
      ${pools.value.length > 1 && html`
        <label><span class="hidden">Pool</span>
          <select value=${scope.pool.value} onChange=${(event) => { scope.pool.value = event.target.value; }}>
            <option value="">All pools</option>
            ${pools.value.map((pool) => html`<option key=${pool} value=${pool}>${pool}</option>`)}
          </select></label>`}
      ${seeks && html`
        <label><span class="hidden">Search</span>
          <input type="search" placeholder=${seeks} value=${scope.search.value}
            onInput=${(event) => { scope.search.value = event.target.value; }} /></label>`}
    </form>`;
}

function Who({who}) {
  if (ways() === NOAUTH) return null;
  return html`
    <p class="who">${who.user && `${who.user.name}, `}${who.project.id ? `project ${who.project.name}` : "the whole system"}${" "}
      ${ways() !== SESSION && html`<button type="button" onClick=${logOut}>Log out</button>`}</p>`;
}

function Noauth({who}) {
  const said = useSignal("");
  const submit = (event) => {
    event.preventDefault();
    const as = new FormData(event.target).get("as").trim();
    const fits = SOMEBODY.test(as);
    said.value = fits ? "" : `You are still ${who.token}. Enter ${FORMS}, of letters, digits and _ . @ -`;
    if (fits) enter(somebody(as));
  };
  return html`
    <form class="banner" onSubmit=${submit} aria-label="Demonstration" noValidate>
      <span>Demonstration without passwords: everybody who reaches this page may do everything.</span>
      ${who && html`
        <label>You are <input name="as" defaultValue=${who.token} required title=${FORMS}
          aria-invalid=${said.value ? "true" : undefined} onInput=${() => { said.value = ""; }} /></label>
        <button type="submit">Change</button>
        ${said.value && html`<span class="alert" role="alert">${said.value}</span>`}`}
    </form>`;
}

render(html`<${App} />`, document.body);
start();
