// The views by the first part of the address after `#/`, in the order of the navigation.
import {Cluster} from "./cluster.js";
import {Job} from "./job.js";
import {Now} from "./now.js";
import {Queue} from "./queue.js";
import {Timeline} from "./timeline.js";

export const VIEWS = {
  queue: {title: "Queue", view: Queue},
  now: {title: "Now", view: Now},
  timeline: {title: "Timeline", view: Timeline},
  cluster: {title: "Cluster", view: Cluster},
  // It is reached from the others.
  job: {title: "Job", view: Job, apart: true},
};
