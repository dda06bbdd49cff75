// Keystone's single sign-on: the browser leaves the page, and comes back to it with a token for no project.
import {html, useEffect, useSignal} from "./vendor/ui.js";
import {ApiError} from "./client.js";

const LEFT = "websso";
// Milliseconds that a login may take.
const LONGEST = 15 * 60 * 1000;

export function depart(choice) {
  sessionStorage.setItem(LEFT, JSON.stringify({at: Date.now(), hash: location.hash}));
  location.assign(`${choice.url}?${new URLSearchParams({origin: location.origin + location.pathname})}`);
}

// What the browser has come back with, `{token, notice}`; null if it has not been away.
//
// A token that this tab did not ask for is not taken: another site may have sent its own to have the
// reader work as somebody else.
export function arrival() {
  const {token} = document.body.dataset;
  const left = JSON.parse(sessionStorage.getItem(LEFT));
  sessionStorage.removeItem(LEFT);
  if (token === undefined) return null;
  delete document.body.dataset.token;
  const asked = left !== null && Date.now() - left.at < LONGEST;
  // So that a reload does not send the token anew.
  history.replaceState(null, "", location.pathname + (asked ? left.hash : ""));
  return asked ? {token, notice: ""} : {token: "", notice: "This page did not ask for that login. Log in here."};
}

// The choice of a project. `entered(answer)` is called with what the API answers, `refused(why)` if Keystone no
// longer takes the token.
export function Projects({api, token, entered, refused}) {
  const projects = useSignal(null);
  const said = useSignal("");
  const busy = useSignal(true);

  async function attempt(ask) {
    busy.value = true;
    said.value = "";
    try {
      await ask();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) refused("The single sign-on has ended. Log in again.");
      else said.value = error.message;
    } finally {
      busy.value = false;
    }
  }

  const enter = async (project) => entered(await api.post("/v1/login", {token, project_id: project}));
  const list = async () => {
    const found = (await api.post("/v1/login/projects", {token})).projects;
    if (found.length === 1) await enter(found[0].id);
    else projects.value = found;
  };
  useEffect(() => { attempt(list); }, []);

  const submit = (event) => {
    event.preventDefault();
    const {project} = Object.fromEntries(new FormData(event.target));
    attempt(() => enter(project));
  };
  return html`
    <form class="login" onSubmit=${submit} aria-labelledby="login">
      <h2 id="login">Choose a project</h2>
      ${projects.value?.length === 0 && html`<p role="status">You have no project in this cloud: ask its operator.</p>`}
      ${projects.value?.length > 1 && html`
        <label>Project
          <select name="project" required>
            ${projects.value.map((each) => html`<option key=${each.id} value=${each.id}>${named(each, projects.value)}</option>`)}
          </select></label>
        <button type="submit" class="primary" disabled=${busy.value}>Go on</button>`}
      ${projects.value === null && !busy.value && html`
        <button type="button" class="primary" onClick=${() => attempt(list)}>Try again</button>`}
      ${said.value && html`<p class="alert" role="alert">${said.value}</p>`}
    </form>`;
}

// Names are unique in a domain only.
function named(project, projects) {
  const alone = projects.filter(({name}) => name === project.name).length === 1;
  return alone ? project.name : `${project.name} (domain ${project.domain_id})`;
}
