// The views by the first part of the address after `#/`, in the order of the navigation.
import {Job} from "./job.js";
import {Queue} from "./queue.js";

export const VIEWS = {
  queue: {title: "Queue", view: Queue},
  // It is reached from the others.
  job: {title: "Job", view: Job, apart: true},
};
