// A list of which only the rows in view are in the page, so that it may have ten thousand.
import {useEffect, useState} from "./vendor/ui.js";

const BEYOND = 8;

// Of `count` rows of equal height in a scrolling element, those to show: from `first` up to, not
// including, `last`, with the pixels that the others take `above` and `below`; `seen`: the first in view.
export function useWindow(element, count, height) {
  const [view, setView] = useState({top: 0, size: 600});
  useEffect(() => {
    const box = element.current;
    const look = () => setView({top: box.scrollTop, size: box.clientHeight});
    const watcher = new ResizeObserver(look);
    watcher.observe(box);
    box.addEventListener("scroll", look, {passive: true});
    return () => {
      watcher.disconnect();
      box.removeEventListener("scroll", look);
    };
  }, []);
  const shown = Math.ceil(view.size / height) + 2 * BEYOND;
  const seen = Math.floor(view.top / height);
  const first = Math.max(0, Math.min(seen - BEYOND, count - shown));
  const last = Math.min(count, first + shown);
  return {first, last, seen, above: first * height, below: (count - last) * height};
}

// Whether a media query matches, as it changes.
export function useMedia(query) {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const look = () => setMatches(media.matches);
    media.addEventListener("change", look);
    return () => media.removeEventListener("change", look);
  }, [query]);
  return matches;
}
