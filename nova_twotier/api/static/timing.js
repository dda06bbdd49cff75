// What observers of the page's performance are told: when the first data was painted, and how long it
// takes from an answer to what is painted of it.

export const FIRST = "board-first-paint";
export const REFRESH = "board-refresh";
const ARRIVED = "board-arrived";

let first = true;

// An answer that changes what is painted has arrived.
export function arrived(startTime) {
  performance.mark(ARRIVED, {startTime});
}

// A view has been painted; `data`: with something that the API told.
export function painted(data) {
  if (first && data) {
    first = false;
    performance.measure(FIRST, {start: 0, end: performance.now()});
  }
  if (!performance.getEntriesByName(ARRIVED).length) return;
  // They are for observers, and would pile up.
  performance.measure(REFRESH, ARRIVED);
  performance.clearMarks(ARRIVED);
  performance.clearMeasures(REFRESH);
}
