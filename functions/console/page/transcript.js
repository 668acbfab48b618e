// A transcript whose words can be clicked and walked through by arrow keys; the one that sounds is marked.

import { element } from './dom.js';

const UNSURE = 0.6; // words of less confidence look like it

/** The paragraphs of Amazon Transcribe's job document: [{ channel, words: [{ text, start_s, end_s, confidence }] }]. */
export function paragraphs({ results }) {
  const items = new Map(results.items.map((item) => [item.id, item]));
  return results.audio_segments.map((segment) => {
    const words = [];
    for (const { type, start_time, end_time, alternatives: [{ content, confidence }] } of segment.items.map((id) => items.get(id))) {
      if (type === 'pronunciation') {
        words.push({ text: content, start_s: Number(start_time), end_s: Number(end_time), confidence: Number(confidence) });
      } else if (words.length) {
        words.at(-1).text += content;
      }
    }
    return { channel: segment.channel_label, words };
  });
}

/** Fills an element with paragraphs; `seek(s)` is called with the beginning of a word that was chosen. */
export class Transcript {
  constructor(home, seek) {
    Object.assign(this, { home, seek, words: [], buttons: [] });
    home.addEventListener('click', ({ target }) => this.#choose(this.buttons.indexOf(target)));
    home.addEventListener('keydown', (event) => this.#walk(event));
  }

  fill(parts) {
    const channels = [...new Set(parts.map(({ channel }) => channel))].filter(Boolean).sort();
    const written = parts.map((part) => this.#paragraph(part, channels));
    this.words = parts.flatMap((part) => part.words);
    this.buttons = [...written.flatMap((one) => [...one.querySelectorAll('button')])];
    this.order = this.words.map((_, i) => i).sort((a, b) => this.words[a].start_s - this.words[b].start_s);
    this.home.replaceChildren(...(this.words.length ? written : [element('p', { className: 'hint', textContent: 'No speech was found.' })]));
    if (this.buttons.length) this.buttons[0].tabIndex = 0;
    this.marked = undefined;
  }

  /** Marks the word that sounds at a time; it stays marked in the pause after it. */
  show(at_s) {
    const found = this.order.findLast((i) => this.words[i].start_s <= at_s + 0.001);
    if (found === this.marked) return;
    this.buttons[this.marked]?.removeAttribute('aria-current');
    this.buttons[found]?.setAttribute('aria-current', 'true');
    this.marked = found;
  }

  #paragraph({ channel, words }, channels) {
    const buttons = words.flatMap(({ text, confidence }) => [
      element('button', { type: 'button', tabIndex: -1, className: confidence < UNSURE ? 'unsure' : '', textContent: text }),
      ' ',
    ]);
    const number = channels.indexOf(channel) + 1;
    const who = channels.length > 1 ? [element('span', { className: 'who', textContent: `Channel ${number}` })] : [];
    return element('p', { dataset: { channel: number } }, ...who, element('span', {}, ...buttons));
  }

  #choose(i) {
    if (i < 0) return;
    this.#focus(i);
    this.seek(this.words[i].start_s);
  }

  #focus(i) {
    for (const button of this.buttons) if (button.tabIndex === 0) button.tabIndex = -1;
    this.buttons[i].tabIndex = 0; // the transcript is one stop of the Tab key, wherever one was last
    this.buttons[i].focus();
  }

  #walk(event) {
    const at = this.buttons.indexOf(event.target);
    const last = this.buttons.length - 1;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    this.#focus(Math.max(0, Math.min(last, to)));
  }
}
