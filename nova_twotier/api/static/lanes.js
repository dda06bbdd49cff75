// Where the timeline has what: for each host its slots, one below the other, and for each slot a lane
// of the foreground above those of the background. Waiting jobs that are predicted have lanes above all.

export const SIZES = {lane: 12, slot: 5, host: 9};

// Rows of equal slots by host: `tops` has the upper edge of each host, and the lower one of the last.
export function arrangeLanes(hosts, sizes = SIZES) {
  const tops = new Float64Array(hosts.length + 1);
  hosts.forEach((host, index) => {
    tops[index + 1] = tops[index] + sizes.host + host.slots * slotHeight(host, sizes);
  });
  return {hosts, sizes, tops, height: tops[hosts.length]};
}

export function slotHeight(host, sizes = SIZES) {
  return Math.max(1, host.tiers) * sizes.lane + sizes.slot;
}

// The slots with a part between two heights, as `{host, index, slot, y}`.
export function visibleSlots(layout, top, bottom) {
  const {hosts, tops, sizes} = layout;
  const found = [];
  for (let index = hostAt(layout, top); index < hosts.length && tops[index] < bottom; index += 1) {
    const each = slotHeight(hosts[index], sizes);
    const begin = tops[index] + sizes.host;
    const first = Math.max(0, Math.floor((top - begin) / each));
    const last = Math.min(hosts[index].slots, Math.ceil((bottom - begin) / each));
    for (let slot = first; slot < last; slot += 1) {
      found.push({host: hosts[index], index, slot, y: begin + slot * each});
    }
  }
  return found;
}

// The lane at a height, as `{host, tier, slot}`; null: there is none.
export function laneAt(layout, y) {
  const {hosts, tops, sizes, height} = layout;
  if (y < 0 || y >= height) return null;
  const index = hostAt(layout, y);
  const host = hosts[index];
  const inside = y - tops[index] - sizes.host;
  if (inside < 0) return null;
  const each = slotHeight(host, sizes);
  const slot = Math.floor(inside / each);
  const row = Math.floor((inside - slot * each) / sizes.lane);
  return row < host.tiers ? {host: host.name, ...numbered(host, row, slot)} : null;
}

// The tier and number of a slot's row: with more than two tiers, the background has several numbers
// for each slot, tier by tier.
export function numbered(host, row, slot) {
  return row ? {tier: "bg", slot: (row - 1) * host.slots + slot} : {tier: "fg", slot};
}

// The waiting jobs that fit into so many lanes, by start, each with its `line`: those of one line do
// not overlap. The others are left out. (The `lane` of a stay is a slot, which they have none of.)
export function packed(predicted, count) {
  const free = new Array(count).fill(-Infinity);
  const found = [];
  for (const each of [...predicted].sort((one, other) => one.begin - other.begin)) {
    const line = free.findIndex((until) => until <= each.begin);
    if (line < 0) continue;
    free[line] = each.end;
    found.push({...each, line});
  }
  return found;
}

function hostAt({tops, hosts}, y) {
  let low = 0;
  let high = hosts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tops[middle + 1] <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}
