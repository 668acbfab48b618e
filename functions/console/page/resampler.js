// A stateful resampler: any chunking of the input gives the same output. Windowed sinc, cut off below both Nyquist rates.

const CROSSINGS = 12; // of the sinc, on each side
const PASS = 0.94; // of the lower Nyquist rate

/** Samples at `from` Hz become samples at `to` Hz. */
export class Resampler {
  #held = new Float32Array(0); // input from #start on
  #start; // index of the first held sample in the whole input
  #made = 0; // output samples so far

  constructor(from, to) {
    this.step = from / to; // input samples for one of output
    this.cutoff = PASS * Math.min(1, to / from);
    this.half = Math.ceil(CROSSINGS / this.cutoff); // input samples on each side
    this.#start = -this.half; // silence before the beginning
    this.#held = new Float32Array(this.half);
    this.kernels = new Map(); // phase -> weights; few where the rates have a common divisor
  }

  /** Takes a Float32Array, returns what can be made of it so far. */
  receive(samples) {
    const held = new Float32Array(this.#held.length + samples.length);
    held.set(this.#held);
    held.set(samples, this.#held.length);
    const end = this.#start + held.length;
    const made = [];
    for (;;) {
      const centre = Math.floor(this.#made * this.step + 1e-9);
      if (centre + this.half >= end) break;
      const weights = this.#kernel(this.#made * this.step - centre);
      const first = centre - this.half + 1 - this.#start;
      let sum = 0;
      for (let i = 0; i < weights.length; i += 1) sum += weights[i] * held[first + i];
      made.push(sum);
      this.#made += 1;
    }
    const needed = Math.max(0, Math.floor(this.#made * this.step + 1e-9) - this.half + 1 - this.#start);
    this.#held = held.slice(needed);
    this.#start += needed;
    return Float32Array.from(made);
  }

  /** Weights of the 2 * half samples around a place that lies `phase` after one of them. */
  #kernel(phase) {
    const name = Math.round(phase * 1e6);
    if (!this.kernels.has(name)) {
      const weights = Float32Array.from({ length: 2 * this.half }, (_, i) => this.#weight(i - this.half + 1 - phase));
      this.kernels.set(name, weights);
    }
    return this.kernels.get(name);
  }

  #weight(distance) {
    const x = Math.PI * distance * this.cutoff;
    const window = Math.cos((Math.PI * distance) / (2 * (this.half + 1))) ** 2;
    return this.cutoff * window * (x === 0 ? 1 : Math.sin(x) / x);
  }
}
