// Answers each line of its input, a schedule, with where and how the board's timeline shows it.
import {createInterface} from "node:readline";
import {colourOf, inkOn} from "./static/colours.js";
import {arrangeLanes, numbered, visibleSlots} from "./static/lanes.js";
import {shown} from "./static/selection.js";
import {Stays, endOf} from "./static/stays.js";

const ALL = {listed: null, only: null, pool: null, search: ""};

function seen({rows, hosts, sizes, waiting}) {
  const stays = new Stays();
  stays.add(rows);
  const layout = arrangeLanes(hosts ?? shown(stays, ALL), sizes);
  const lanes = [];
  const bars = [];
  for (const {host, slot, y} of visibleSlots(layout, 0, layout.height)) {
    for (let each = 0; each < host.tiers; each += 1) {
      const place = numbered(host, each, slot);
      const top = y + each * layout.sizes.lane;
      lanes.push([host.name, place.tier, place.slot, top]);
      for (const stay of stays.lanes(host.name, place.tier)[place.slot]?.stays ?? []) {
        const {job} = stay;
        const colour = colourOf(job.number, "light");
        const end = endOf(stay, (uuid) => waiting.includes(uuid));
        bars.push([job.number, stay.process, stay.begin / 1000, top, colour, inkOn(colour), end?.kind ?? null]);
      }
    }
  }
  return {lanes, bars};
}

for await (const line of createInterface({input: process.stdin})) {
  process.stdout.write(`${JSON.stringify(seen(JSON.parse(line)))}\n`);
}
