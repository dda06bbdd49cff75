// The colour of a job: always the same for the same job, and readable on a light and a dark page.
// Plots (sim/plots/job_colours.py) have the colours of the light page.

// Lightness and chroma of OKLCH: two steps, so that jobs of a similar hue still differ.
const SHADES = {
  light: [{lightness: 0.62, chroma: 0.13}, {lightness: 0.76, chroma: 0.11}],
  dark: [{lightness: 0.72, chroma: 0.12}, {lightness: 0.56, chroma: 0.12}],
};
const HUES = 18;
// Hues from a number to the next: neighbours are far apart on the circle.
const STEP = 7;
const COLOURS = Object.fromEntries(Object.entries(SHADES).map(([scheme, shades]) => (
  [scheme, Array.from({length: shades.length * HUES}, (_, number) => made(number, shades))])));
const WHITE = "#ffffff";
const BLACK = "#000000";
// Above this luminance, black on a colour has more contrast than white.
const MIDDLE = 0.179;

// `#rrggbb` of a job by its number: those of the next numbers differ.
export function colourOf(number, scheme) {
  const colours = COLOURS[scheme];
  return colours[number % colours.length];
}

// The colour of text on a colour.
export function inkOn(colour) {
  return luminance(colour) > MIDDLE ? BLACK : WHITE;
}

// WCAG's relative luminance, 0 to 1.
export function luminance(colour) {
  const [red, green, blue] = channels(colour).map((each) => {
    const part = each / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// A colour between two others: `share` of the first, 0 to 1.
export function mixed(colour, other, share) {
  const others = channels(other);
  return hex(channels(colour).map((each, index) => share * each + (1 - share) * others[index]));
}

export function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

function made(number, shades) {
  const {lightness, chroma} = shades[(number + Math.floor(number / HUES)) % shades.length];
  const hue = (2 * Math.PI * ((number * STEP) % HUES)) / HUES;
  return hex(fromOklch(lightness, chroma, hue));
}

// Björn Ottosson's OKLab, https://bottosson.github.io/posts/oklab/.
function fromOklch(lightness, chroma, hue) {
  const a = chroma * Math.cos(hue);
  const b = chroma * Math.sin(hue);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((linear) => {
    const part = Math.min(1, Math.max(0, linear));
    return 255 * (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055);
  });
}

function hex(parts) {
  return `#${parts.map((each) => Math.round(each).toString(16).padStart(2, "0")).join("")}`;
}
