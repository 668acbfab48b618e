// One context of the WebSocket: a text goes up, its sound comes back as it is made, and the times of its words.

import { Refusal } from './api.js';

const PATIENCE_MS = 6000; // without news before the text is sent once more, which changes nothing if it was there
const AGAIN = new Set(['busy', 'internal_error']);
const MOST_TIMES = 4;
let count = 0;

/** Use `speak`; `on` has chunk(samples, at_s), words(list), done(audio_s) and failed(error). */
export class Synthesis {
  #seen = new Set(); // numbers of records
  #over = false;

  constructor(line, { text, voice, speed, rate }, on) {
    Object.assign(this, { line, on, name: `speech-${(count += 1)}`, times: 0 });
    this.message = {
      type: 'open', context: this.name, voice, speed, rate, encoding: 'pcm_s16le', timestamps: true, text, finish: true,
    };
  }

  /** Sends the text. Throws a Refusal if there is no connection to be had. */
  async speak() {
    await this.line.connect();
    if (this.#over) return;
    this.line.listen(this.name, (record) => this.#record(record), (error) => this.#end('failed', error));
    this.#put();
  }

  /** No more sound, please; `played_s` of it have been heard. Whether there was more to come. */
  cancel(played_s) {
    const more = this.times > 0 && !this.#over;
    if (more) this.line.send({ type: 'cancel', context: this.name, played_s });
    this.#end();
    return more;
  }

  #put() {
    this.times += 1;
    this.line.send(this.message);
    this.#wait();
  }

  #wait() {
    clearTimeout(this.timer);
    const again = () => (this.times < MOST_TIMES ? this.#put() : this.#end('failed', new Refusal('The voice does not answer.')));
    this.timer = setTimeout(again, PATIENCE_MS);
  }

  #record(record) {
    this.#wait();
    if (record.type === 'error') return this.#error(record);
    if (this.#seen.has(record.number)) return undefined;
    this.#seen.add(record.number);
    if (record.type === 'chunk') return this.on.chunk(samples(record.audio), record.at_s);
    if (record.type === 'timestamps') return this.on.words(record.words);
    return record.type === 'done' ? this.#end('done', record.audio_s) : undefined;
  }

  #error({ code, message }) {
    if (AGAIN.has(code) && this.times < MOST_TIMES) return this.#put();
    if (this.times > 1 && code.startsWith('context_')) return undefined; // the first one had arrived
    return this.#end('failed', new Refusal(message, 0, code));
  }

  #end(how, what) {
    clearTimeout(this.timer);
    this.line.leave(this.name);
    if (this.#over) return;
    this.#over = true;
    if (how) this.on[how](what);
  }
}

/** Base64 of 16-bit samples, little-endian, as numbers from -1 to 1. */
function samples(audio) {
  const bytes = Uint8Array.from(atob(audio), (letter) => letter.charCodeAt(0));
  return Float32Array.from(new Int16Array(bytes.buffer), (sample) => sample / 32768);
}
