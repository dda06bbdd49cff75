// The hosts that the views of slots show.
import {useEffect, useState} from "./vendor/ui.js";
import {ApiError, query} from "./client.js";
import {shown} from "./timing.js";

// Without the ledger, hosts are known by what has run there.
const UNKNOWN = {hosts: null, pool: null, failed: false};
// What the API says while Placement, which has the ledger, does not answer.
const UNAVAILABLE = "twotier.service.unavailable";
// Milliseconds after which hosts are asked for again that the API could not list.
const AGAIN = 30_000;

// The hosts as the API lists them (null: it cannot), the names of those of the pool (null: not known, or of all
// pools), and whether it `failed` for want of the ledger. They are followed while the component is there.
export function useHosts(api, pool) {
  const [found, setFound] = useState(UNKNOWN);
  useEffect(() => {
    const abort = new AbortController();
    let live = null;
    let retry = null;
    let unsubscribe = () => {};
    const start = async () => {
      // With many hosts it takes the API long to ask for them; until then those with jobs are shown.
      await shown;
      const names = pool ? await orError(api.patient(`/v1/topology${query({pool})}`, {abort: abort.signal})) : null;
      // A ledger that does not answer is no lost connection: the rest of the view goes on.
      const answer = await orError(api.patient("/v1/hosts?limit=1", {abort: abort.signal}));
      if (abort.signal.aborted) return;
      const only = names?.hosts ? new Set(names.hosts.map((host) => host.name)) : null;
      if (answer instanceof ApiError) {
        setFound({hosts: null, pool: only, failed: answer.code === UNAVAILABLE});
        later();
        return;
      }
      live = api.live("/v1/hosts", {pages: true});
      unsubscribe = live.subscribe(({data}) => {
        if (data) setFound({hosts: data.hosts, pool: only, failed: false});
      });
    };
    const later = () => {
      retry = setTimeout(() => (document.hidden ? later() : start()), AGAIN);
    };
    start();
    return () => {
      abort.abort();
      clearTimeout(retry);
      unsubscribe();
      live?.stop();
    };
  }, [api, pool]);
  return found;
}

// The answer, or why there is none; null: nobody waits for it any more.
async function orError(answer) {
  try {
    return await answer;
  } catch (error) {
    if (error.name === "AbortError") return null;
    if (!(error instanceof ApiError)) throw error;
    return error;
  }
}
