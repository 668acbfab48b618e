// The calls to choose from: one stop of the Tab key, walked through by arrow keys, kept in place while it changes.

import { clock, element } from './dom.js';

const STATES = { QUEUED: 'Waiting for a worker', IN_PROGRESS: 'On the line', COMPLETED: 'Over', FAILED: 'Failed' };

/** What a person calls a call: the name of its video stream. */
export const nameOf = ({ streams, id }) => /(?:stream\/)?([\w.-]+)(?:\/\d+)?$/.exec(streams[0] ?? id)?.[1] ?? id;

/** Fills a list; `choose(call)` is told which one was opened. */
export class CallList {
  #rows = new Map(); // id -> { item, button, call }

  constructor(home, choose) {
    Object.assign(this, { home, choose });
    home.addEventListener('click', ({ target }) => {
      const row = this.#row(target.closest('button'));
      if (row) choose(row.call);
    });
    home.addEventListener('keydown', (event) => this.#walk(event));
  }

  /** Calls, newest first. Rows that stay keep their elements, and so the focus. */
  show(calls) {
    const gone = new Set(this.#rows.keys());
    for (const call of calls) {
      gone.delete(call.id);
      this.#write(call);
    }
    for (const id of gone) {
      this.#rows.get(id).item.remove();
      this.#rows.delete(id);
    }
    const items = calls.map(({ id }) => this.#rows.get(id).item);
    if (items.some((item, i) => this.home.children[i] !== item)) {
      const focused = this.home.contains(document.activeElement) && document.activeElement;
      this.home.replaceChildren(...items);
      focused?.focus?.();
    }
    const buttons = this.#buttons();
    if (buttons.length && !buttons.some((button) => button.tabIndex === 0)) buttons[0].tabIndex = 0;
  }

  /** Marks the one that is open. */
  mark(id) {
    for (const [known, { button }] of this.#rows) {
      if (known === id) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    }
  }

  #write(call) {
    let row = this.#rows.get(call.id);
    if (!row) {
      const button = element('button', { type: 'button', tabIndex: -1 });
      row = { item: element('li', {}, button), button };
      this.#rows.set(call.id, row);
    }
    const said = described(call);
    row.call = call;
    if (row.said === said) return;
    row.said = said;
    row.button.dataset.status = call.status;
    row.button.replaceChildren(
      element('span', { className: 'name', textContent: nameOf(call) }),
      ' ',
      element('span', { className: 'what', textContent: said }),
    );
  }

  #buttons() {
    return [...this.home.querySelectorAll('button')];
  }

  #row(button) {
    return [...this.#rows.values()].find((row) => row.button === button);
  }

  #walk(event) {
    const buttons = this.#buttons();
    const at = buttons.indexOf(event.target);
    const last = buttons.length - 1;
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    buttons[at].tabIndex = -1;
    const next = buttons[Math.max(0, Math.min(last, to))];
    next.tabIndex = 0;
    next.focus();
  }
}

function described({ status, created_at, began_at, ended_at }) {
  const created = new Date(created_at);
  const today = created.toDateString() === new Date().toDateString();
  const when = created.toLocaleString([], { timeStyle: 'short', ...(today ? {} : { dateStyle: 'short' }) });
  const long_s = (Date.parse(ended_at) - Date.parse(began_at)) / 1000;
  return [STATES[status], when, long_s > 0 ? clock(long_s).slice(0, -2) : ''].filter(Boolean).join(' · ');
}
