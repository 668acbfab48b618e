// When a sample was heard, on the browser's own clock, and how long after that something was seen.

/** Maps places in a stream (seconds) to performance.now(). */
export class HeardAt {
  #sent_s = 0;
  #offset = Infinity; // ms between the stream's clock and the browser's: the least seen, as messages only come late

  /** A message of so many seconds, whose last sample was heard just now. */
  add(duration_s) {
    this.#sent_s += duration_s;
    this.#offset = Math.min(this.#offset, performance.now() - this.#sent_s * 1000);
  }

  /** Milliseconds since the sample at `at_s` was heard. */
  since(at_s) {
    return performance.now() - at_s * 1000 - this.#offset;
  }
}

/** Numbers of which the latest and the middle one are shown. */
export class Series {
  #values = [];

  add(value) {
    this.#values.push(value);
  }

  get latest() {
    return this.#values.at(-1);
  }

  get count() {
    return this.#values.length;
  }

  get median() {
    const sorted = [...this.#values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
