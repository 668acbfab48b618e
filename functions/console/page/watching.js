// One call watched over the WebSocket: its events, each once, through lost connections and workers that die.

import { askJson } from './api.js';

const PATIENCE_MS = [500, 1000, 2000, 5000, 10000]; // before each further attempt to connect
const ALIVE_MS = 4 * 60 * 1000; // between two signs of life: the gateway hangs up after ten minutes without any
const QUIET_MS = 5000; // without an event: the end may have been told before anybody knew of this watcher
const ENDS = new Set(['call_completed', 'call_failed']);
const LIVE = new Set(['QUEUED', 'IN_PROGRESS']);
const PASSING = new Set(['busy', 'internal_error', 'idle', 'connection_expired', 'not_connected']);

/** Tells what is new: after a worker's death some of a call is told again by the next one. */
export class Fresh {
  #next = new Map(); // channel -> number that is expected next
  #finals = new Map(); // channel -> segment of its newest final
  #heard_s = new Map(); // channel -> how far the newest partial had heard
  #sounds = new Map(); // reply -> number of its next piece of sound

  /** { fresh, missed }: whether an event says something new, and whether others never came that the transcript has. */
  take(event) {
    const { type, channel, number, segment, heard_s, reply, sequence } = event;
    if (type === 'reply_audio') return { ...this.#inOrder(this.#sounds, reply, sequence), missed: false };
    if (type === 'partial') {
      const fresh = segment > (this.#finals.get(channel) ?? -1) && heard_s > (this.#heard_s.get(channel) ?? -1);
      if (fresh) this.#heard_s.set(channel, heard_s);
      return { fresh, missed: false };
    }
    if (number === undefined) return { fresh: true, missed: false };
    if (type === 'final') this.#finals.set(channel, Math.max(segment, this.#finals.get(channel) ?? -1));
    return this.#inOrder(this.#next, channel, number);
  }

  #inOrder(next, name, number) {
    const expected = next.get(name) ?? 0;
    if (number < expected) return { fresh: false, missed: false };
    next.set(name, number + 1);
    return { fresh: true, missed: number > expected };
  }
}

/** Watches from `start` until `stop`. `on` has event(event, missed), over(event), waiting(error), back() and failed(error). */
export class Watching {
  #fresh = new Fresh();
  #attempts = 0;
  #timer; // of the next attempt, or of the next sign of life
  #quiet;
  #stopped = false;

  constructor(line, call, on) {
    Object.assign(this, { line, call, on });
  }

  /** Resolves once it has been asked for; what fails later is told to `on`. */
  async start() {
    try {
      await this.line.connect();
    } catch (error) {
      return this.#lost(error);
    }
    if (this.#stopped) return undefined;
    this.line.listen(this.call, (record) => this.#record(record), (error) => this.#lost(error));
    return this.#ask();
  }

  /** No more of it, please. */
  stop() {
    if (this.#stopped) return;
    this.#end();
    this.line.send({ type: 'unwatch', call: this.call });
  }

  #ask() {
    this.#listen();
    clearTimeout(this.#timer);
    this.line.send({ type: 'watch', call: this.call });
    this.#timer = setTimeout(() => this.#ask(), ALIVE_MS);
  }

  /** Asks whether the call goes on, whenever nothing is heard of it for a while. */
  #listen() {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(async () => {
      const call = await askJson(`calls/${this.call}`).catch(() => null);
      if (this.#stopped) return;
      if (call && !LIVE.has(call.status)) this.#over(call);
      else this.#listen();
    }, QUIET_MS);
  }

  #lost(error) {
    if (this.#stopped) return;
    this.line.leave(this.call);
    clearTimeout(this.#timer);
    if (error.status === 401 || error.status === 403) {
      this.#fail(error);
      return;
    }
    const wait_ms = PATIENCE_MS[Math.min(this.#attempts, PATIENCE_MS.length - 1)];
    this.#attempts += 1;
    this.on.waiting(error);
    this.#timer = setTimeout(() => this.start(), wait_ms);
  }

  #record(record) {
    this.#listen();
    if (record.type === 'error') {
      if (!PASSING.has(record.code)) this.#fail(new Error(record.message));
    } else if (record.type === 'watching') {
      this.#attempts = 0;
      this.on.back();
    } else if (ENDS.has(record.type)) {
      this.#over(record);
    } else {
      const { fresh, missed } = this.#fresh.take(record);
      if (fresh) this.on.event(record, missed);
    }
  }

  #over(how) {
    this.stop();
    this.on.over(how);
  }

  #fail(error) {
    this.#end();
    this.on.failed(error);
  }

  #end() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#quiet);
    this.line.leave(this.call);
  }
}
