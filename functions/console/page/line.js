// A WebSocket: opened when first needed, opened anew once it has ended.

import { askJson, Refusal } from './api.js';

const ADDRESS = document.body.dataset.socket;
const PAGE = `page-${crypto.getRandomValues(new Uint32Array(2)).join('')}`; // connections are counted for each subject
const LOST = 'The connection was lost. Start again.';

/** One connection; records go to whoever listens to their stream, context or call. */
export class Line {
  #socket = null;
  #opening = null;
  #rights;
  #ears = new Map(); // name of a stream, context or call -> { onRecord, onLost }

  /** `rights`: what its token is to allow beside streams and contexts, as `{ calls: ['*'] }`. */
  constructor(rights = {}) {
    this.#rights = rights;
  }

  /** Resolves once it is open, at once if it is. Throws a Refusal if it cannot be opened. */
  connect() {
    if (this.#socket?.readyState === WebSocket.OPEN) return Promise.resolve();
    this.#opening ??= this.#dial().finally(() => { this.#opening = null; });
    return this.#opening;
  }

  /** Sends a message; one that finds the line down is not sent: whoever listens hears of that. */
  send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** From now on `onRecord` is called with each record of `name`, `onLost` with a Refusal if the connection ends. */
  listen(name, onRecord, onLost) {
    this.#ears.set(name, { onRecord, onLost });
  }

  /** Nobody listens to `name` any more. */
  leave(name) {
    this.#ears.delete(name);
  }

  /** Ends the connection, as if it were lost. */
  hangUp() {
    const socket = this.#socket;
    if (socket) this.#lose(socket);
    socket?.close();
  }

  async #dial() {
    const { token } = await askJson('tokens', { method: 'POST', body: { subject: PAGE, calls: ['*'] } });
    const socket = new WebSocket(`${ADDRESS}?token=${encodeURIComponent(token)}`);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      // A browser tells no reason why a WebSocket was not opened.
      socket.onclose = () => reject(new Refusal('The WebSocket could not be opened: it is unreachable, or has too many connections.'));
    });
    socket.onmessage = ({ data }) => this.#hear(JSON.parse(data));
    socket.onclose = () => this.#lose(socket);
    this.#socket = socket;
  }

  #hear(record) {
    const name = record.stream ?? record.context ?? record.call;
    if (name === undefined) this.#everybody((ear) => ear.onRecord(record)); // about the connection itself
    else this.#ears.get(name)?.onRecord(record);
  }

  #lose(socket) {
    if (socket !== this.#socket) return; // it was given up before
    this.#socket = null;
    this.#everybody((ear) => ear.onLost(new Refusal(LOST)));
  }

  #everybody(tell) {
    for (const ear of [...this.#ears.values()]) tell(ear);
  }
}
