// Colours, numbers in words, and elements.

// Okabe and Ito's colours; on white the light ones are darkened until they can be seen.
const dark = ['#e69f00', '#56b4e9', '#2bbd90', '#f0e442', '#4a9be0', '#f0703a', '#d98bb8', '#c9d1d9'];
const light = ['#a86f00', '#1f86c4', '#00805d', '#857a00', '#0059a3', '#bd4a00', '#b04f88', '#4a5560'];

export const isDark = () => document.documentElement.dataset.theme === 'dark';

/** The colour of the i-th area, as #rrggbb. */
export const colourOf = (i) => (isDark() ? dark : light)[i % dark.length];

/** Three numbers from 0 to 1 of a colour. */
export const channels = (colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16) / 255);

/** A colour of the style sheet. */
export const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A number in at most four digits. */
export function short(x) {
  if (x === 0 || !Number.isFinite(x)) return String(x);
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) return x.toExponential(2);
  return Number(x.toPrecision(4)).toLocaleString('en', {maximumFractionDigits: 6});
}

export const whole = (n) => n.toLocaleString('en');

/** A time in ms with a fitting unit. */
export const time = (ms) => (Math.abs(ms) >= 1000 ? `${Number((ms / 1000).toFixed(3))} s` : `${Number(ms.toFixed(3))} ms`);

/** Makes an element: attributes, where those of on are listeners, and children, which are elements or text. */
export function make(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'on') for (const [event, f] of Object.entries(value)) e.addEventListener(event, f);
    else if (name in e && typeof value !== 'string') e[name] = value;
    else if (value !== undefined && value !== false) e.setAttribute(name, value);
  }
  e.append(...children.filter((x) => x !== null && x !== undefined));
  return e;
}

export const button = (text, title, press, more = {}) => make('button', {type: 'button', title, on: {click: press}, ...more}, text);

/** Sets an element's text if it is another one. */
export function say(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

/** Fits a canvas to its place, in the screen's own pixels. Returns whether it has changed. */
export function fit(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  if (canvas.width === width && canvas.height === height) return false;
  canvas.width = width;
  canvas.height = height;
  return true;
}

/** Saves bytes or a picture as a file. */
export function save(name, blob) {
  const address = URL.createObjectURL(blob);
  make('a', {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
