// A canvas as wide and high as its box, sharp on all screens, with the colours of the document's style.
import {useEffect, useRef} from "./vendor/ui.js";

const DARK = "(prefers-color-scheme: dark)";
const NAMES = [
  "scheme", "back", "raised", "line", "text", "muted", "accent", "danger", "place", "closed", "foreign",
];

// The custom properties of the document's style by name, without their dashes.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

// Calls `paint(context, {width, height, theme, whole})` in the next frame after `ask(whole)`: `whole` if
// all that was painted is void. The box is the element that scrolls; the canvas fills what is seen of it.
export function useSurface(box, canvas, paint) {
  const state = useRef(null);
  state.current ??= surface();
  state.current.paint = paint;
  useEffect(() => state.current.attach(box.current, canvas.current), []);
  return state.current.ask;
}

function surface() {
  const self = {paint: null};
  let box = null;
  let canvas = null;
  let context = null;
  let frame = null;
  let whole = true;
  let colours = null;

  function draw() {
    frame = null;
    // The page may show another view by now.
    if (!canvas?.isConnected) return;
    const view = {
      width: canvas.clientWidth, height: canvas.clientHeight, theme: colours, whole, top: box.scrollTop,
    };
    whole = false;
    self.paint(context, view);
  }

  self.ask = (all = true) => {
    whole ||= all;
    frame ??= requestAnimationFrame(draw);
  };

  self.attach = (outer, inner) => {
    box = outer;
    canvas = inner;
    context = canvas.getContext("2d", {alpha: false});
    colours = theme();
    const resize = () => {
      const ratio = devicePixelRatio || 1;
      canvas.style.width = `${box.clientWidth}px`;
      canvas.style.height = `${box.clientHeight}px`;
      canvas.width = Math.round(box.clientWidth * ratio);
      canvas.height = Math.round(box.clientHeight * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      self.ask();
    };
    const recolour = () => {
      colours = theme();
      self.ask();
    };
    const scrolled = () => self.ask();
    const watcher = new ResizeObserver(resize);
    watcher.observe(box);
    const media = matchMedia(DARK);
    media.addEventListener("change", recolour);
    box.addEventListener("scroll", scrolled, {passive: true});
    return () => {
      cancelAnimationFrame(frame);
      frame = null;
      canvas = null;
      watcher.disconnect();
      media.removeEventListener("change", recolour);
      box.removeEventListener("scroll", scrolled);
    };
  };
  return self;
}

// Lines across a rectangle: what is closed.
export function hatch(context, x, y, width, height, colour) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 1.2;
  context.beginPath();
  for (let at = -height; at < width; at += 4) {
    context.moveTo(x + at, y + height);
    context.lineTo(x + at + height, y);
  }
  context.stroke();
  context.restore();
}

// A text, shortened if it is wider than its room.
export function fitting(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let short = text;
  while (short && context.measureText(`${short}…`).width > room) short = short.slice(0, -1);
  return `${short}…`;
}
