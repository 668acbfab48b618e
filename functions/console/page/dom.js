// The few things that every part does to the document.

/** The element of an id. */
export const byId = (id) => document.getElementById(id);

/** A new element with properties, `data-` attributes (`dataset`) and children. */
export function element(tag, { dataset = {}, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  Object.assign(made.dataset, dataset);
  made.append(...children);
  return made;
}

/** Shows a text, or hides the element where there is none. */
export function say(node, text) {
  node.textContent = text;
  node.hidden = !text;
}

/** Runs `work`; what goes wrong is said in words in `node` instead of being thrown. */
export async function complaining(node, work) {
  say(node, '');
  try {
    return await work();
  } catch (error) {
    if (error.name !== 'AbortError') say(node, error.message);
    return undefined;
  }
}

/** A duration for a reader: "840 ms", "1.24 s". */
export const inMs = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`);

/** Shows the latest of a Series, and beside it the middle of several. */
export function showLatest(id, series) {
  const node = byId(id);
  node.textContent = series.count ? inMs(series.latest) : '–';
  node.nextElementSibling.textContent = series.count > 1 ? `median ${inMs(series.median)} of ${series.count}` : '';
}

/** A place in a recording: "1:07.4". */
export function clock(seconds) {
  const tenths = Math.floor(seconds * 10 + 1e-6);
  const [minutes, rest] = [Math.floor(tenths / 600), tenths % 600];
  return `${minutes}:${String(Math.floor(rest / 10)).padStart(2, '0')}.${rest % 10}`;
}

/** Whether the reader asked for a page that keeps still. */
export const keepStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** A colour of the style sheet, for a canvas. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
