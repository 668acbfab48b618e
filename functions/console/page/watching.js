// One call watched over the WebSocket: its events, each once, through lost connections and workers that die.

import { askJson } from './api.js';

const PATIENCE_MS = [500, 1000, 2000, 5000, 10000]; // before each further attempt to connect
const ALIVE_MS = 4 * 60 * 1000; // between two signs of life: the gateway hangs up after ten minutes without any
const QUIET_MS = 5000; // without an event: the end may have been told before anybody knew of this watcher
const ENDS = new Set(['call_completed', 'call_failed']);
const LIVE = new Set(['QUEUED', 'IN_PROGRESS']);
const PASSING = new Set(['busy', 'internal_error', 'idle', 'connection_expired', 'not_connected']);

/** Tells what is new: of a call that another worker goes on with, or that is watched anew, some is told again. */
export class Fresh {
  #next = new Map(); // channel -> number that is expected next
  #finals = new Map(); // channel -> segment of its newest final
  #heard_s = new Map(); // channel -> how far the newest partial had heard
  #sounds = new Map(); // reply -> number of its next piece of sound
  #begun = new Set(); // replies
  #over = new Set(); // replies

  /** Whether an event says something new. */
  take({ type, channel, number, segment, heard_s, reply, sequence }) {
    switch (type) {
      case 'partial': return this.#finals.get(channel) >= segment ? false : later(this.#heard_s, channel, heard_s);
      case 'final': {
        const fresh = later(this.#finals, channel, segment);
        if (number !== undefined) later(this.#next, channel, number);
        return fresh;
      }
      case 'reply_start': return once(this.#begun, reply);
      case 'reply_audio': return later(this.#sounds, reply, sequence);
      case 'reply_end': return once(this.#over, reply);
      default: return number === undefined || later(this.#next, channel, number);
    }
  }

  /** What has no lower number than these is new, by channel. */
  expect(next = {}) {
    for (const [channel, number] of Object.entries(next)) later(this.#next, Number(channel), number - 1);
  }
}

/** Whether `value` is above the last one of `name`, and then keeps it. */
function later(last, name, value) {
  if (value <= (last.get(name) ?? -1)) return false;
  last.set(name, value);
  return true;
}

function once(seen, name) {
  if (seen.has(name)) return false;
  seen.add(name);
  return true;
}

/**
 * Watches from `start` until `stop`. `on` has event(event), past(event) for what was before anybody watched, behind it
 * leftOut(count) of the lines that it lacks, and over(event), waiting(error), back() and failed(error).
 */
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
    } else if (record.type === 'so_far') {
      for (const past of record.records) if (this.#fresh.take(past)) this.on.past(past, record.told_at);
      this.#fresh.expect(record.next);
      if (record.left_out) this.on.leftOut(record.left_out);
    } else if (this.#fresh.take(record)) {
      this.on.event(record);
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
