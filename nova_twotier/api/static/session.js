// The page of `openstack twotier board`, which has the session: the page presents the secret of its address.

export const SESSION = "session";
const KEPT = "secret";
const SECRET = /^#secret=([\w-]+)$/;

// Another address of the same command was entered: only its fragment differs, so nothing would be loaded.
addEventListener("hashchange", () => { if (SECRET.test(location.hash)) location.reload(); });

// The secret that the page came with; it is kept in the tab until that is closed, so that a reload works.
export function secret() {
  const came = SECRET.exec(location.hash);
  if (came) {
    sessionStorage.setItem(KEPT, came[1]);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEPT) ?? "";
}
