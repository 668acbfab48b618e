// The microphone: permission, the audio thread that listens, and what to say when it is not to be had.

const MESSAGE_S = 0.2; // of audio in each message
const REASONS = {
  NotAllowedError: 'The browser may not use the microphone. Allow it beside the address, then start again.',
  NotFoundError: 'There is no microphone here. Plug one in, then start again.',
  NotReadableError: 'Another program holds the microphone. Close it there, then start again.',
};

/** A microphone that is open; `close` it. */
export class Microphone {
  /** Calls `onAudio(ArrayBuffer)` each 200 ms and `onLevel(rms)` often. Throws an Error with the reason in words. */
  static async open(rate, onAudio, onLevel) {
    const microphone = new Microphone();
    microphone.tracks = await permitted();
    try {
      await microphone.#listen(rate, onAudio, onLevel);
    } catch (error) {
      await microphone.close();
      throw error;
    }
    return microphone;
  }

  /** Hands over what has been heard and lets go of the microphone. */
  async close() {
    for (const track of this.tracks.getTracks()) track.stop();
    if (this.node) {
      const last = new Promise((resolve) => { this.onLast = resolve; });
      this.node.port.postMessage('end');
      await Promise.race([last, new Promise((resolve) => { setTimeout(resolve, 500); })]);
      this.node = null;
    }
    if (this.context?.state !== 'closed') await this.context?.close();
  }

  async #listen(rate, onAudio, onLevel) {
    this.context = new AudioContext();
    await this.context.audioWorklet.addModule(new URL('./capture-worklet.js', import.meta.url));
    const processorOptions = { rate, size: rate * MESSAGE_S };
    this.node = new AudioWorkletNode(this.context, 'capture', { numberOfOutputs: 0, processorOptions });
    this.node.port.onmessage = ({ data }) => {
      if (data.audio === undefined) return onLevel(data.level);
      if (data.audio.byteLength) onAudio(data.audio);
      return data.last && this.onLast();
    };
    this.context.createMediaStreamSource(this.tracks).connect(this.node);
    await this.context.resume();
  }
}

async function permitted() {
  if (!navigator.mediaDevices) throw new Error('Browsers lend the microphone to pages by https or from this machine only.');
  try {
    // Suppressing noise takes some of the speech with it; the recogniser has heard noise.
    return await navigator.mediaDevices.getUserMedia({
      audio: { channelCount: 1, echoCancellation: true, noiseSuppression: false, autoGainControl: true },
    });
  } catch (error) {
    throw new Error(REASONS[error.name] ?? `The microphone cannot be used: ${error.message}`);
  }
}
