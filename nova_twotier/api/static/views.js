// The views by the first part of the address after `#/`, in the order of the navigation. `seeks`: what is searched
// for in a view; without it, there is no search.
import {Cluster} from "./cluster.js";
import {Job} from "./job.js";
import {Now} from "./now.js";
import {Queue} from "./queue.js";
import {Timeline} from "./timeline.js";

export const VIEWS = {
  queue: {title: "Queue", view: Queue, seeks: "Number, name, user, reason"},
  now: {title: "Now", view: Now, seeks: "Number, name, host"},
  timeline: {title: "Timeline", view: Timeline, seeks: "Number, name, host"},
  cluster: {title: "Cluster", view: Cluster},
  // It is reached from the others.
  job: {title: "Job", view: Job, apart: true},
};
