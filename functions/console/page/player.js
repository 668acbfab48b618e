// Plays sound as it arrives: each chunk at its place on one time line, which moves back where a chunk comes too late.

const LEAD_S = 0.04; // from a first chunk's arrival to its sound: the next one arrives meanwhile
const MOST_LEAD_S = 2; // each gap doubles the lead, so that a slow voice pauses seldom rather than all the time

/** Plays one text. Make it where the reader has just clicked: browsers are silent otherwise. */
export class Player {
  #start = null; // context time of the beginning
  #played_s = 0;
  #sounding = new Set();
  #over = false; // nothing more will come

  /** `onFirst(ms)` is told how far off the first sound is, `onEnd` when the last has been heard. */
  constructor(rate, { onFirst, onEnd }) {
    Object.assign(this, { onFirst, onEnd, lead_s: LEAD_S });
    this.context = new AudioContext({ sampleRate: rate, latencyHint: 'interactive' });
    this.rate = rate;
  }

  /** A chunk, whose place is `at_s` after the beginning. */
  play(samples, at_s) {
    const { context } = this;
    const buffer = context.createBuffer(1, Math.max(1, samples.length), this.rate);
    buffer.copyToChannel(samples, 0);
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(context.destination);
    this.#place(at_s);
    source.start(this.#start + at_s);
    this.#sounding.add(source);
    source.onended = () => {
      this.#sounding.delete(source);
      this.#lookForEnd();
    };
  }

  /** Seconds of the text's sound that have been heard; they stand still in a gap. */
  get played_s() {
    if (this.#start !== null) this.#played_s = Math.max(this.#played_s, this.context.currentTime - this.#start - this.#delay);
    return this.#played_s;
  }

  /** Nothing more will come. */
  finish() {
    this.#over = true;
    this.#lookForEnd();
  }

  /** Silence at once. */
  stop() {
    this.onEnd = () => {};
    for (const source of this.#sounding) source.stop();
    if (this.context.state !== 'closed') this.context.close();
  }

  get #delay() {
    return this.context.outputLatency || this.context.baseLatency || 0; // to the loudspeaker, as far as it is known
  }

  #place(at_s) {
    const now = this.context.currentTime;
    if (this.#start === null) {
      this.#start = now + this.lead_s;
      this.onFirst((this.lead_s + this.#delay) * 1000);
    } else if (this.#start + at_s < now) {
      this.lead_s = Math.min(MOST_LEAD_S, this.lead_s * 2);
      this.#start = now + this.lead_s - at_s;
    }
  }

  #lookForEnd() {
    if (!this.#over || this.#sounding.size) return;
    this.#over = false;
    this.context.close();
    this.onEnd();
  }
}
