// Live captions: the microphone's words as they are heard, grey while they may still change.

import { byId, complaining, element, say, showLatest } from './dom.js';
import { HeardAt, Series } from './latency.js';
import { Level } from './level.js';
import { Microphone } from './microphone.js';
import { RATE, Recognition } from './recognition.js';

/** Makes the part work over a Line. */
export function captions(line) {
  const button = byId('listen');
  const level = new Level(byId('level'));
  const view = new View();
  let session = null;

  const show = (state) => {
    button.dataset.state = state;
    // Not `disabled`: that would take the focus from whoever is at the keyboard.
    button.setAttribute('aria-disabled', state === 'starting' || state === 'stopping');
    button.querySelector('span').textContent = { listening: 'Stop', starting: 'Starting…', stopping: 'Finishing…' }[state] ?? 'Start listening';
    byId('listening').textContent = { listening: 'Listening', stopping: 'Writing the last words' }[state] ?? '';
  };

  const ended = async (error) => {
    const { microphone } = session ?? {};
    session = null;
    await microphone?.close();
    level.clear();
    view.settle();
    show('idle');
    if (error) say(byId('captions-error'), error.message);
  };

  const start = async () => {
    show('starting');
    const heard = new HeardAt();
    session = {};
    try {
      const stream = await Recognition.start(line, {
        partial: (record) => view.partial(record, heard),
        // What the reader cuts short by Stop is no measurement of how long it takes without.
        final: (record) => view.final(record, button.dataset.state === 'listening' && heard),
        done: () => ended(),
        failed: ended,
        trouble: (error) => say(byId('captions-error'), error.message),
      });
      const onAudio = (audio) => {
        heard.add(audio.byteLength / 2 / RATE);
        stream.hear(audio);
      };
      session.stream = stream;
      session.microphone = await Microphone.open(RATE, onAudio, (rms) => level.show(rms));
      show('listening');
    } catch (error) {
      session?.stream?.stop();
      await ended();
      throw error;
    }
  };

  const stop = async () => {
    const { stream, microphone } = session;
    show('stopping');
    await microphone.close();
    stream.stop();
  };

  button.addEventListener('click', () => {
    if (button.ariaDisabled !== 'true') complaining(byId('captions-error'), session ? stop : start);
  });
  show('idle');
}

/** What has been said, and how long it took to be seen. */
class View {
  #log = byId('captions');
  #partial = byId('partial');
  #first = new Series();
  #final = new Series();
  #shown = null; // stream and segment whose first words have been shown

  partial({ stream, segment, words, stable }, heard) {
    const name = `${stream} ${segment}`;
    if (words.length && this.#shown !== name) {
      this.#shown = name;
      this.#first.add(heard.since(words[0].start_s));
      showLatest('first-words', this.#first);
    }
    const text = words.map((word) => word.text);
    const settled = text.slice(0, stable).join(' ');
    this.#partial.replaceChildren(
      element('span', { className: 'stable', textContent: settled }),
      settled && stable < text.length ? ' ' : '',
      element('span', { className: 'open', textContent: text.slice(stable).join(' ') }),
    );
    this.#follow();
  }

  final({ text, words }, heard) {
    this.settle();
    if (!words.length) return;
    if (heard) {
      this.#final.add(heard.since(words.at(-1).end_s));
      showLatest('final-after', this.#final);
    }
    this.#log.append(element('p', { textContent: text }));
    this.#follow();
  }

  /** Nothing is open any more. */
  settle() {
    this.#partial.replaceChildren();
  }

  #follow() {
    byId('captions-empty').hidden = true;
    const box = byId('captions-box');
    box.scrollTop = box.scrollHeight;
  }
}
