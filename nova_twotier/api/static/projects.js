// The choice of a project, for those who see the jobs of several.
import {html} from "./vendor/ui.js";

const OWN = " (own)";

// `projects`: the ids to choose from; the chosen one is always among them.
export function ProjectChoice({scope, projects}) {
  const chosen = scope.only.value;
  const listed = [...new Set(chosen ? [...projects, chosen] : projects)].sort();
  if (!scope.all.value || (listed.length < 2 && !chosen)) return null;
  return html`
    <label><span class="hidden">Project</span>
      <select class="project" value=${chosen} onChange=${(event) => { scope.only.value = event.target.value; }}>
        <option value="">All projects</option>
        ${listed.map((id) => html`<option key=${id} value=${id}>${id}${id === scope.project.value ? OWN : ""}</option>`)}
      </select></label>`;
}
