// When the first data was painted, which what is less urgent waits for; and what observers of the page's
// performance are told: that time, and how long it takes from an answer to what is painted of it.

export const FIRST = "board-first-paint";
export const REFRESH = "board-refresh";
const ARRIVED = "board-arrived";

// Milliseconds after which nothing waits any more: there may be no data.
const LATEST = 1000;

let first = true;
let resolve;
// Resolved when data has been painted, or late.
export const shown = new Promise((resolved) => { resolve = resolved; });

// Begins to count to the time after which nothing waits for the first data.
export function begun() {
  setTimeout(resolve, LATEST);
}

// An answer that changes what is painted has arrived.
export function arrived(startTime) {
  performance.mark(ARRIVED, {startTime});
}

// A view has been painted; `data`: with something that the API told.
export function painted(data) {
  if (first && data) {
    first = false;
    resolve();
    performance.measure(FIRST, {start: 0, end: performance.now()});
  }
  if (!performance.getEntriesByName(ARRIVED).length) return;
  // They are for observers, and would pile up.
  performance.measure(REFRESH, ARRIVED);
  performance.clearMarks(ARRIVED);
  performance.clearMeasures(REFRESH);
}
