// The form with which a user logs in at Keystone, by way of the API.
import {html, useSignal} from "./vendor/ui.js";
import {depart} from "./websso.js";

const PASSWORD = "password";

// `choices` are the ways of a single sign-on, `{name, url}`. `entered(answer)` is called with what the API answers.
export function Login({api, choices, notice, entered}) {
  const kind = useSignal(PASSWORD);
  const said = useSignal("");
  const busy = useSignal(false);

  async function submit(event) {
    event.preventDefault();
    const form = event.target;
    const filled = [...new FormData(form)].filter(([name, value]) => name !== "kind" && value !== "");
    busy.value = true;
    said.value = "";
    try {
      entered(await api.post("/v1/login", Object.fromEntries(filled)));
    } catch (error) {
      if (error.status === undefined) throw error;
      said.value = error.message;
    } finally {
      busy.value = false;
    }
  }

  const choice = (value, title) => html`
    <label><input type="radio" name="kind" value=${value} checked=${kind.value === value}
      onChange=${() => { kind.value = value; }} /><span>${title}</span></label>`;
  return html`
    <form class="login" onSubmit=${submit} aria-labelledby="login">
      <h2 id="login">Log in</h2>
      ${notice && html`<p role="status">${notice}</p>`}
      ${!window.isSecureContext && html`
        <p class="alert">This page came without encryption: others on the network can read your password.</p>`}
      ${choices.map((each) => html`
        <button key=${each.url} type="button" onClick=${() => depart(each)}>Log in with ${each.name}</button>`)}
      <fieldset class="choice">
        <legend class="hidden">Credentials</legend>
        ${choice(PASSWORD, "Password")}${choice("credential", "Application credential")}
      </fieldset>
      ${kind.value === PASSWORD ? html`
        <label>User <input key="user" name="user" autocomplete="username" required /></label>
        <label>Password <input key="password" name="password" type="password" autocomplete="current-password" required /></label>
        <label>Project <input key="project" name="project" placeholder="your default project" /></label>
        <label>Domain <input key="domain" name="domain" placeholder="Default" /></label>` : html`
        <label>Id <input key="id" name="application_credential" autocomplete="off" required /></label>
        <label>Secret <input key="secret" name="secret" type="password" autocomplete="off" required /></label>`}
      <button type="submit" class="primary" disabled=${busy.value}>Log in</button>
      ${said.value && html`<p class="alert" role="alert">${said.value}</p>`}
    </form>`;
}
