// A recording's loudness over its whole length, on a canvas that is a slider: by pointer and by keys.

import { clock, colour } from './dom.js';

const MOST_BYTES = 80 << 20; // of a file: a larger one would take the browser's memory to draw
const RATE = 8000; // Hz; enough to look at
const BAR = 2; // CSS pixels, and one beside it
const STEPS = { ArrowRight: 5, ArrowUp: 5, ArrowLeft: -5, ArrowDown: -5, PageUp: 30, PageDown: -30 }; // seconds

/** Draws peaks, spans of speech and the place that sounds; `seek(s)` is called for another place. */
export class Waveform {
  constructor(canvas, seek) {
    Object.assign(this, { canvas, seek, duration_s: 0, at_s: 0, samples: null, spans: [] });
    canvas.addEventListener('pointerdown', (event) => this.#grab(event));
    canvas.addEventListener('pointermove', (event) => { if (canvas.hasPointerCapture(event.pointerId)) this.#point(event); });
    canvas.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  /** Another file; without samples where the browser cannot decode it, or where it is too large. */
  async load(file) {
    Object.assign(this, { samples: null, spans: [], duration_s: 0, at_s: 0 });
    this.draw();
    if (file.size > MOST_BYTES) return;
    try {
      const sound = await new OfflineAudioContext(1, 1, RATE).decodeAudioData(await file.arrayBuffer());
      this.samples = Array.from({ length: sound.numberOfChannels }, (_, channel) => sound.getChannelData(channel));
      this.measure(sound.duration);
    } catch {
      this.samples = null; // the words still have their places
    }
  }

  /** How long the recording is. */
  measure(duration_s) {
    this.duration_s = duration_s;
    this.canvas.setAttribute('aria-valuemax', duration_s.toFixed(1));
    this.show(this.at_s);
  }

  /** Where words are: [{ start_s, end_s }]. */
  mark(spans) {
    this.spans = spans;
    this.draw();
  }

  /** The place that sounds. */
  show(at_s) {
    this.at_s = at_s;
    this.canvas.setAttribute('aria-valuenow', at_s.toFixed(1));
    this.canvas.setAttribute('aria-valuetext', `${clock(at_s)} of ${clock(this.duration_s)}`);
    this.draw();
  }

  draw() {
    const { canvas, duration_s } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    const pen = canvas.getContext('2d');
    pen.scale(devicePixelRatio, devicePixelRatio);
    const bars = Math.floor(width / (BAR + 1));
    const peaks = this.#peaks(bars);
    const spoken = this.#spoken(bars);
    const [heard, speech, quiet] = ['accent', 'wave', 'line'].map(colour);
    const here = (this.at_s / (duration_s || 1)) * width;
    for (let bar = 0; bar < bars; bar += 1) {
      const x = bar * (BAR + 1);
      const size = Math.max(2, (peaks?.[bar] ?? (spoken[bar] ? 0.4 : 0)) * height);
      if (duration_s && x < here) pen.fillStyle = heard;
      else pen.fillStyle = spoken[bar] ? speech : quiet;
      pen.fillRect(x, (height - size) / 2, BAR, size);
    }
    if (!duration_s) return;
    pen.fillStyle = colour('ink');
    pen.fillRect(Math.min(width - 2, here), 0, 2, height);
  }

  #peaks(bars) {
    if (!this.samples) return null;
    if (this.peaks?.length === bars && this.peaks.of === this.samples) return this.peaks;
    const peaks = new Float32Array(bars);
    for (const channel of this.samples) {
      for (let i = 0; i < channel.length; i += 1) {
        const bar = Math.min(bars - 1, Math.floor((i * bars) / channel.length));
        peaks[bar] = Math.max(peaks[bar], Math.abs(channel[i]));
      }
    }
    const loudest = Math.max(...peaks, 0.05);
    this.peaks = Object.assign(peaks.map((peak) => (peak / loudest) ** 0.7 * 0.96), { of: this.samples });
    return this.peaks;
  }

  #spoken(bars) {
    const spoken = new Array(bars).fill(false);
    for (const { start_s, end_s } of this.spans) {
      spoken.fill(true, Math.floor((start_s / this.duration_s) * bars), Math.ceil((end_s / this.duration_s) * bars));
    }
    return spoken;
  }

  #grab(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.#point(event);
  }

  #point({ offsetX }) {
    this.#go((offsetX / this.canvas.clientWidth) * this.duration_s);
  }

  #key(event) {
    const to = { Home: 0, End: this.duration_s }[event.key] ?? this.at_s + STEPS[event.key];
    if (Number.isNaN(to)) return;
    event.preventDefault();
    this.#go(to);
  }

  #go(at_s) {
    if (this.duration_s) this.seek(Math.max(0, Math.min(this.duration_s, at_s)));
  }
}
