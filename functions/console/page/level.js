// The level meter: the last seconds of loudness as bars that wander to the left, or one bar where nothing should move.

import { colour, keepStill } from './dom.js';

const QUIETEST_DB = -60;
const BAR = 3; // CSS pixels, and as much beside it
const SAID_EACH = 10; // levels between two changes of what a screen reader may ask for

/** Shows levels on a canvas that is a meter. */
export class Level {
  #levels = [];
  #count = 0;

  constructor(canvas) {
    this.canvas = canvas;
    this.draw();
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  /** A root mean square of samples from 0 to 1. */
  show(rms) {
    const db = Math.max(QUIETEST_DB, 20 * Math.log10(rms + 1e-9));
    this.#levels.push(1 - db / QUIETEST_DB);
    this.#levels = this.#levels.slice(-400);
    if (this.#count % SAID_EACH === 0) this.#tell(db);
    this.#count += 1;
    this.draw();
  }

  /** Back to silence. */
  clear() {
    this.#levels = [];
    this.#tell(QUIETEST_DB);
    this.draw();
  }

  draw() {
    const { canvas } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    const pen = canvas.getContext('2d');
    pen.scale(devicePixelRatio, devicePixelRatio);
    if (keepStill()) {
      pen.fillStyle = colour('line');
      pen.fillRect(0, height / 2 - 3, width, 6);
      pen.fillStyle = colour('accent');
      pen.fillRect(0, height / 2 - 3, width * (this.#levels.at(-1) ?? 0), 6);
      return;
    }
    const [loud, quiet] = ['accent', 'line'].map(colour);
    const bars = Math.ceil(width / (2 * BAR));
    for (let bar = 0; bar < bars; bar += 1) {
      const level = this.#levels.at(-1 - bar);
      const size = Math.max(BAR, (level ?? 0) * height);
      pen.fillStyle = level === undefined ? quiet : loud;
      pen.beginPath();
      pen.roundRect(width - (bar + 1) * 2 * BAR, (height - size) / 2, BAR, size, BAR / 2);
      pen.fill();
    }
  }

  #tell(db) {
    this.canvas.setAttribute('aria-valuenow', Math.round(db));
    this.canvas.setAttribute('aria-valuetext', db <= QUIETEST_DB ? 'silence' : `${Math.round(db)} decibels`);
  }
}
