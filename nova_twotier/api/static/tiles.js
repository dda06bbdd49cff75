// Where the grid of the view Now has what: a tile for each host, with a column for each slot and a
// row of cells for each place that a slot has, the foreground above the background.

export const SIZES = {cell: 13, gap: 1, label: 16, between: 14, below: 10};

// The tiles of hosts `{name, slots, tiers}` in a view of this width, in rows of equal height.
export function arrange(hosts, width, sizes = SIZES) {
  const step = sizes.cell + sizes.gap;
  const slots = Math.max(1, ...hosts.map((host) => host.slots));
  const rows = Math.max(1, ...hosts.map((host) => host.tiers));
  const tile = {
    width: Math.max(110, slots * step) + sizes.between,
    height: sizes.label + rows * step + sizes.below,
  };
  const columns = Math.max(1, Math.floor((width + sizes.between) / tile.width));
  return {sizes, step, tile, columns, count: hosts.length, height: Math.ceil(hosts.length / columns) * tile.height};
}

// How many hosts have room in a view of this size, before anything is known of them: with two tiers, and
// as many slots as many hosts have.
const LIKELY = {slots: 16, tiers: 2};
const MOST_IN_VIEW = 500;

export function roomIn(width, height) {
  const {columns, tile} = arrange([LIKELY], width);
  return Math.min(MOST_IN_VIEW, columns * Math.max(1, Math.ceil(height / tile.height)));
}

// The left and upper edge of a host's tile.
export function corner(layout, index) {
  const {columns, tile} = layout;
  return {x: (index % columns) * tile.width, y: Math.floor(index / columns) * tile.height};
}

// The left and upper edge of a cell: `row` 0 is the foreground.
export function cellAt(layout, index, row, slot) {
  const {x, y} = corner(layout, index);
  return {x: x + slot * layout.step, y: y + layout.sizes.label + row * layout.step};
}

// The indexes of the hosts with a part between two heights: from `first` until before `last`.
export function visible(layout, top, bottom) {
  const {columns, tile, count} = layout;
  const first = Math.min(count, Math.max(0, Math.floor(top / tile.height)) * columns);
  const last = Math.min(count, Math.max(0, Math.ceil(bottom / tile.height)) * columns);
  return {first, last};
}

// The cell at a point, as `{index, row, slot}`; null: there is none.
export function hit(layout, hosts, x, y) {
  const {columns, tile, sizes, step} = layout;
  const column = Math.floor(x / tile.width);
  const index = Math.floor(y / tile.height) * columns + column;
  if (x < 0 || y < 0 || column >= columns || index >= hosts.length) return null;
  const slot = Math.floor((x - column * tile.width) / step);
  const row = Math.floor((y - Math.floor(y / tile.height) * tile.height - sizes.label) / step);
  const {slots, tiers} = hosts[index];
  return slot < slots && row >= 0 && row < tiers ? {index, row, slot} : null;
}

// The cell beside one in a direction `[columns, rows]`, over the edges of tiles; the same one at the border.
export function beside(layout, hosts, cell, [across, down]) {
  const {columns} = layout;
  let {index, row, slot} = cell;
  slot += across;
  row += down;
  if (slot < 0 || slot >= hosts[index].slots) {
    const next = index + across;
    if (next < 0 || next >= hosts.length) return cell;
    index = next;
    slot = across > 0 ? 0 : hosts[index].slots - 1;
  }
  if (row < 0 || row >= hosts[index].tiers) {
    const next = index + down * columns;
    if (next < 0 || next >= hosts.length) return cell;
    index = next;
    row = down > 0 ? 0 : hosts[index].tiers - 1;
  }
  return {
    index, row: Math.min(row, hosts[index].tiers - 1), slot: Math.min(slot, hosts[index].slots - 1),
  };
}

// Which background places of a host count as closed, by number from 0.
//
// The API tells how many slots are closed, not which: places are taken as they come, so the last free
// ones are shown as closed, and those that are held only if there are more closed than free.
export function closedPlaces(places, closed, isHeld) {
  const numbers = Array.from({length: places}, (_, number) => places - 1 - number);
  const order = [...numbers.filter((each) => !isHeld(each)), ...numbers.filter(isHeld)];
  return new Set(order.slice(0, closed));
}

// The names of what differs from the last painting, which is brought up to date:
// both map a name to what it looks like.
export function changedIn(painted, wanted) {
  const changed = [];
  for (const [name, look] of wanted) {
    if (painted.get(name) !== look) changed.push(name);
  }
  for (const name of painted.keys()) {
    if (!wanted.has(name)) painted.delete(name);
  }
  for (const name of changed) painted.set(name, wanted.get(name));
  return changed;
}
