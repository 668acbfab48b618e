// The sound of spoken replies, for whoever watches a call and wants to hear them.

const LEAD_S = 0.06; // from a piece's arrival to its sound; doubled by each gap
const MOST_LEAD_S = 2;
const RATE = 8000; // Hz, of the telephone

/** Samples from -1 to 1 out of base64 of `encoding`: pcm_mulaw or pcm_s16le. */
export function decoded(audio, encoding) {
  const bytes = Uint8Array.from(atob(audio), (letter) => letter.charCodeAt(0));
  if (encoding === 'pcm_mulaw') return Float32Array.from(bytes, expanded);
  if (encoding !== 'pcm_s16le') throw new Error(`Replies come as ${encoding}, which this page cannot play.`);
  return Float32Array.from(new Int16Array(bytes.buffer), (sample) => sample / 32768);
}

// ITU-T G.711: sign, exponent and mantissa, all bits inverted; 33 is the bias.
function expanded(code) {
  const byte = ~code & 0xff;
  const size = ((2 * (byte & 15) + 33) << ((byte >> 4) & 7)) - 33;
  return (byte & 128 ? -size : size) / 8192;
}

/** Plays replies, one after the other. Make it where the reader has just clicked: browsers are silent otherwise. */
export class ReplySound {
  #reply = null; // the one that sounds
  #start = 0; // context time of its beginning
  #lead_s = LEAD_S;
  #sounding = new Set();

  constructor() {
    this.context = new AudioContext({ sampleRate: RATE });
  }

  /** A `reply_audio` event; what was watched from its middle on is heard from there. Throws an Error if it cannot be played. */
  play({ reply, start_s, encoding, rate, audio }) {
    const { context } = this;
    const samples = decoded(audio, encoding);
    const buffer = context.createBuffer(1, Math.max(1, samples.length), rate);
    buffer.copyToChannel(samples, 0);
    const now = context.currentTime;
    if (reply !== this.#reply) {
      this.#reply = reply;
      this.#start = now + this.#lead_s - start_s;
    } else if (this.#start + start_s < now) {
      this.#lead_s = Math.min(MOST_LEAD_S, this.#lead_s * 2);
      this.#start = now + this.#lead_s - start_s;
    }
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(context.destination);
    source.start(this.#start + start_s);
    this.#sounding.add(source);
    source.onended = () => this.#sounding.delete(source);
  }

  /** The caller has broken in: not another word. */
  stop() {
    for (const source of this.#sounding) source.stop();
    this.#sounding.clear();
  }

  /** Silence for good. */
  close() {
    this.stop();
    this.context.close();
  }
}
