// The hosts that the views of slots show.
import {useEffect, useState} from "./vendor/ui.js";
import {ApiError, query} from "./client.js";
import {shown} from "./timing.js";

// Without the ledger, hosts are known by what has run there.
const UNKNOWN = {hosts: null, pool: null, failed: null};

// The hosts as the API lists them (null: it cannot), and the names of those of the pool (null: not
// known, or of all pools). They are followed while the component is there.
export function useHosts(api, pool) {
  const [found, setFound] = useState(UNKNOWN);
  useEffect(() => {
    let live = null;
    let unsubscribe = () => {};
    let stopped = false;
    const start = async () => {
      // With many hosts it takes the API long to ask for them; until then those with jobs are shown.
      await shown;
      const names = pool ? await orNull(api.get(`/v1/topology${query({pool})}`)) : null;
      // A ledger that does not answer is no lost connection: the rest of the view goes on.
      const answers = await orNull(api.get("/v1/hosts?limit=1"));
      if (stopped) return;
      const only = names && new Set(names.hosts.map((host) => host.name));
      if (!answers) {
        setFound({hosts: null, pool: only, failed: true});
        return;
      }
      live = api.live("/v1/hosts", {pages: true});
      unsubscribe = live.subscribe(({data}) => {
        if (data) setFound({hosts: data.hosts, pool: only, failed: false});
      });
    };
    start();
    return () => {
      stopped = true;
      unsubscribe();
      live?.stop();
    };
  }, [api, pool]);
  return found;
}

async function orNull(answer) {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return null;
  }
}
