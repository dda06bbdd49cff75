// The CPU profile of a job: a bar for each of its processes, or for as many of them as fit.
import {html} from "./vendor/ui.js";
import {processes} from "./format.js";

const WIDTH = 600;
const HEIGHT = 60;
const MOST = 150;
const KINDS = {
  measured_cpu: "measured by node agents",
  learned_cpu: "learned from the owner's last job of the same name, flavor and image",
  cpu: "declared by its owner",
};

// Of what the API knows, the profile that counts.
export function Profile({job}) {
  const kind = Object.keys(KINDS).find((each) => job[each]);
  if (!kind) return html`<p class="muted">Nothing is known about its CPU utilisation.</p>`;
  const values = job[kind];
  const known = values.filter((value) => value !== null);
  const mean = known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
  const bars = thinned(values);
  const step = WIDTH / bars.length;
  const said = mean === null ? "no value yet" : `mean ${(100 * mean).toFixed(0)} %`;
  return html`
    <figure class="profile">
      <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img"
        aria-label=${`CPU utilisation of ${processes(values.length)}, ${said}`}>
        <rect class="whole" x="0" y="0" width=${WIDTH} height=${HEIGHT} />
        ${bars.map((value, index) => value !== null && html`
          <rect class="bar" key=${index} x=${index * step} y=${HEIGHT * (1 - value)} height=${HEIGHT * value}
            width=${Math.max(0.5, step * 0.85)} />`)}
      </svg>
      <figcaption>${processes(values.length)}, ${said}, ${KINDS[kind]}</figcaption>
    </figure>`;
}

// At most MOST values: each the mean of its neighbours.
function thinned(values) {
  const size = Math.ceil(values.length / MOST);
  if (size === 1) return values;
  const found = [];
  for (let at = 0; at < values.length; at += size) {
    const part = values.slice(at, at + size).filter((value) => value !== null);
    found.push(part.length ? part.reduce((sum, value) => sum + value, 0) / part.length : null);
  }
  return found;
}
