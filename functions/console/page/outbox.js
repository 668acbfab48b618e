// What a stream has sent: numbered, kept for a while, sent again when the server misses it.
//
// With each record the server tells how far it is, and what it misses; of audio in which nobody speaks it tells nothing.
// So usually nothing waits for an acknowledgement. After a complaint it goes back to what is missing, and on from there
// a few at a time, each time that the server says it has come further or has not complained for a while.

const MOST_KEPT = 64; // the server takes no message that is further ahead than that
const AT_ONCE = 8; // messages, after a complaint; the server lets 16 wait for an earlier one
const PATIENCE_MS = 1500; // for a sign of the server, before more is sent or the end is asked for again
const MISSES = new Set(['missing_message', 'too_many_waiting', 'sequence_gap']);
const AGAIN = new Set(['busy', 'internal_error']);

/** The messages of one stream. Use `send` for each, show `hear` every record, and call `tick` each second or so. */
export class Outbox {
  #kept = new Map(); // number -> message
  #next = 0; // number of the next new message
  #sent = 0; // messages below it have been sent, as far as it knows
  #top = 0; // messages below it have been sent at least once
  #until = Infinity; // messages from here on wait
  #moved = 0; // performance.now() when something was sent on account of the server
  #last = false; // the message that ends the stream is here

  /** `put` sends one message. */
  constructor(put) {
    this.put = put;
    this.resent = 0; // messages sent again so far
  }

  /** Sends a message; `last` if none will follow. */
  send(message, last = false) {
    this.#kept.set(this.#next, { ...message, sequence: this.#next });
    if (this.#until === Infinity) this.#kept.delete(this.#next - MOST_KEPT);
    this.#next += 1;
    this.#last = last;
    if (last) this.#moved = performance.now();
    this.#pump();
  }

  /** Takes note of a record; true if it was an error that sending again sets right. */
  hear({ type, code, received, sequence, expected }) {
    for (const number of this.#kept.keys()) if (number < received) this.#kept.delete(number);
    if (this.#until < Infinity && received >= this.#until - AT_ONCE / 2) this.#goOn();
    if (type !== 'error') return false;
    if (MISSES.has(code)) this.#goBack(expected);
    else if (AGAIN.has(code)) this.#again(sequence ?? this.#oldest());
    return MISSES.has(code) || AGAIN.has(code);
  }

  /** More after a complaint, or the end of the stream once more, where nothing is heard. */
  tick() {
    if (performance.now() - this.#moved < PATIENCE_MS) return;
    if (this.#until < Infinity) this.#goOn();
    else if (this.#last) this.#goBack(Math.max(this.#oldest() ?? this.#next, this.#next - AT_ONCE));
  }

  #goBack(number) {
    // It complains of every message that waits, so of the same one many times.
    if (number === this.#until - AT_ONCE && performance.now() - this.#moved < PATIENCE_MS) return;
    this.#sent = Math.min(this.#sent, number);
    this.#until = number + AT_ONCE;
    this.#moved = performance.now();
    this.#pump();
  }

  #goOn() {
    this.#until = this.#sent === this.#next ? Infinity : this.#sent + AT_ONCE;
    this.#moved = performance.now();
    this.#pump();
  }

  #pump() {
    for (; this.#sent < Math.min(this.#next, this.#until); this.#sent += 1) {
      if (!this.#kept.has(this.#sent)) continue; // it has arrived
      if (this.#sent < this.#top) this.resent += 1;
      this.#top = Math.max(this.#top, this.#sent + 1);
      this.put(this.#kept.get(this.#sent));
    }
  }

  #again(number) {
    if (!this.#kept.has(number)) return;
    this.resent += 1;
    this.put(this.#kept.get(number));
  }

  #oldest() {
    return this.#kept.keys().next().value;
  }
}
