// On the audio thread: the microphone's samples become 16-bit ones at 16 kHz, in messages of 200 ms, and levels.

import { Resampler } from './resampler.js';

const LEVEL_FRAMES = 2048; // of input for each level: some twenty a second

class Capture extends AudioWorkletProcessor {
  constructor({ processorOptions: { rate, size } }) {
    super();
    this.resampler = new Resampler(sampleRate, rate);
    this.message = new Int16Array(size);
    this.filled = 0;
    this.energy = 0;
    this.frames = 0;
    this.port.onmessage = () => this.#post(true); // the end: whatever there is
  }

  process([channels]) {
    if (!channels.length) return true; // not connected yet
    const mono = mixed(channels);
    this.#measure(mono);
    for (const sample of this.resampler.receive(mono)) {
      this.message[this.filled] = Math.max(-32768, Math.min(32767, Math.round(sample * 32767)));
      this.filled += 1;
      if (this.filled === this.message.length) this.#post();
    }
    return true;
  }

  #measure(mono) {
    for (const sample of mono) this.energy += sample * sample;
    this.frames += mono.length;
    if (this.frames < LEVEL_FRAMES) return;
    this.port.postMessage({ level: Math.sqrt(this.energy / this.frames) });
    this.energy = this.frames = 0;
  }

  #post(last = false) {
    const audio = this.message.slice(0, this.filled).buffer;
    this.filled = 0;
    this.port.postMessage({ audio, last }, [audio]);
  }
}

function mixed(channels) {
  if (channels.length === 1) return channels[0];
  return channels[0].map((_, i) => channels.reduce((sum, channel) => sum + channel[i], 0) / channels.length);
}

registerProcessor('capture', Capture);
