// What a stream has sent and the server may not have: numbered, kept until it is acknowledged, sent again when asked.

const MOST_UNDERWAY = 12; // the server lets 16 messages wait for an earlier one
const PATIENCE_MS = 4000; // after which silence is taken for a loss
const AGAIN_FROM = new Set(['missing_message', 'too_many_waiting', 'sequence_gap']);
const AGAIN = new Set(['busy', 'internal_error']);

/** The messages of one stream. Use `send` for each, and show `hear` every record. */
export class Outbox {
  #next = 0; // number of the next new message
  #sent = 0; // messages below it have left at least once
  #kept = new Map(); // number -> message, not acknowledged
  #heard; // performance.now() when the last sign of life came

  /** `put` sends one message; `resent` counts what had to be sent again. */
  constructor(put) {
    this.put = put;
    this.resent = 0;
  }

  /** Messages that are not acknowledged. */
  get size() {
    return this.#kept.size;
  }

  /** Sends a message as soon as few enough are underway. */
  send(message) {
    if (!this.#kept.size) this.#heard = performance.now();
    this.#kept.set(this.#next, { ...message, sequence: this.#next });
    this.#next += 1;
    this.#pump();
  }

  /** Takes note of a record; true if it was an error that the outbox has dealt with. */
  hear(record) {
    if (record.received !== undefined) {
      this.#heard = performance.now();
      for (const number of this.#kept.keys()) if (number < record.received) this.#kept.delete(number);
    }
    const dealt = record.type === 'error' && this.#answer(record);
    this.#pump();
    return dealt;
  }

  /** Call it now and then: sends the oldest message again when nothing has been heard for long. */
  tick() {
    if (this.#kept.size && performance.now() - this.#heard > PATIENCE_MS) this.#again(this.#oldest());
  }

  #answer({ code, sequence, expected }) {
    if (AGAIN_FROM.has(code)) {
      for (const number of [...this.#kept.keys()]) if (number >= expected && number < this.#sent) this.#again(number);
      return true;
    }
    if (AGAIN.has(code)) this.#again(sequence ?? this.#oldest());
    return AGAIN.has(code);
  }

  #again(number) {
    this.#heard = performance.now();
    if (!this.#kept.has(number)) return; // it has arrived meanwhile
    this.resent += 1;
    this.put(this.#kept.get(number));
  }

  #oldest() {
    return this.#kept.keys().next().value;
  }

  #pump() {
    while (this.#sent < this.#next && this.#sent - (this.#oldest() ?? this.#sent) < MOST_UNDERWAY) {
      this.put(this.#kept.get(this.#sent));
      this.#sent += 1;
    }
  }
}
