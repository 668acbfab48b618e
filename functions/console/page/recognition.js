// One recognition stream of the WebSocket: audio in, partials and finals out, each once, whatever the network did.

import { Refusal } from './api.js';
import { Outbox } from './outbox.js';

export const RATE = 16000; // Hz, what the recogniser hears best
const ENDED = new Set(['stream_lost', 'unknown_stream', 'stream_ended', 'idle', 'connection_expired', 'not_connected']);
let count = 0;

/** Use `Recognition.start`; then `hear` audio and `stop`. `on` has partial, final, done and failed. */
export class Recognition {
  #seen = new Set(); // numbers of records
  #finals = new Set(); // segments that are over
  #newest = -1; // number of the newest partial

  constructor(line, on) {
    Object.assign(this, { line, on, name: `captions-${(count += 1)}` });
    this.outbox = new Outbox((message) => line.send({ ...message, stream: this.name }));
    this.timer = setInterval(() => this.outbox.tick(), 1000);
  }

  /** A stream that is open. Throws a Refusal if it cannot be. */
  static async start(line, on) {
    await line.connect();
    const stream = new Recognition(line, on);
    await new Promise((resolve, reject) => {
      line.listen(stream.name, (record) => (record.type === 'started' ? resolve() : stream.#failed(reject, record)), reject);
      line.send({ type: 'start', stream: stream.name, encoding: 'pcm_s16le', rate: RATE, channels: 1 });
    });
    line.listen(stream.name, (record) => stream.#record(record), (error) => stream.#end('failed', error));
    return stream;
  }

  /** Takes samples as an ArrayBuffer of 16-bit integers. */
  hear(samples) {
    this.outbox.send({ type: 'audio', audio: base64(new Uint8Array(samples)) });
  }

  /** The audio is over: what is left becomes final, then `done` is told. */
  stop() {
    this.outbox.send({ type: 'stop' }, true);
  }

  #failed(reject, record) {
    clearInterval(this.timer);
    this.line.leave(this.name);
    reject(new Refusal(record.message ?? 'The stream could not be started.', 0, record.code));
  }

  #record(record) {
    const dealt = this.outbox.hear(record);
    if (record.type === 'error' && !dealt) {
      const error = new Refusal(record.message, 0, record.code);
      if (ENDED.has(record.code)) this.#end('failed', error);
      else this.on.trouble?.(error);
      return;
    }
    if (record.number === undefined || this.#seen.has(record.number)) return;
    this.#seen.add(record.number);
    if (record.type === 'final') {
      this.#finals.add(record.segment);
      this.on.final(record);
    } else if (record.type === 'partial' && record.number > this.#newest && !this.#finals.has(record.segment)) {
      this.#newest = record.number; // two processes may answer at once: an older one says nothing new
      this.on.partial(record);
    } else if (record.type === 'done') {
      this.#end('done', record);
    }
  }

  #end(how, what) {
    clearInterval(this.timer);
    this.line.leave(this.name);
    this.on[how](what);
  }
}

function base64(bytes) {
  return bytes.toBase64?.() ?? btoa(String.fromCharCode(...bytes)); // the former is new in browsers
}
