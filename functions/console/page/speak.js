// Reading aloud: the text of the field begins to sound at once, and each word is marked while it is spoken. One that is
// too long for that becomes a file instead.

import { askJson } from './api.js';
import { byId, complaining, inMs, say } from './dom.js';
import { key } from './key.js';
import { isLong, spokenFile } from './long-text.js';
import { Player } from './player.js';
import { Reader } from './reader.js';
import { Synthesis } from './synthesis.js';

/** Makes the part work over a Line. `voices` lists them again, for another key. */
export function speak(line) {
  const [field, voice, speed, button] = ['text', 'voice', 'speed', 'speak'].map(byId);
  const error = byId('speak-error');
  const reader = new Reader(field, byId('text-copy'), byId('text-box'));
  const said = byId('speaking');
  let reading = null;
  let file = null; // an AbortController, while a file is made
  let rate = 24000;

  const show = (state) => {
    button.dataset.state = state;
    const long = isLong(field.value);
    button.querySelector('span').textContent = state !== 'idle' ? 'Stop' : long ? 'Make a file' : 'Read aloud';
    field.readOnly = state !== 'idle';
    const idle = long ? 'Too long to be read at once: a file can be made of it.' : '';
    said.textContent = { waiting: 'Waiting for the voice', speaking: 'Speaking', idle }[state];
  };

  const end = (problem) => {
    if (file) {
      file.abort(); // the job goes on, but nobody waits for it
      file = null;
      show('idle');
    }
    if (!reading) return;
    const { player, context } = reading;
    reading = null;
    if (context.cancel(player.played_s)) {
      line.hangUp(); // so that the next text does not wait behind what is still on its way
      line.connect().catch(() => {});
    }
    player.stop();
    reader.clear();
    show('idle');
    if (problem) say(error, problem.message);
  };

  const make = async (text) => {
    const mine = new AbortController();
    file = mine;
    show('waiting');
    const onShare = (share) => { if (file === mine) said.textContent = `Making the file: ${Math.floor(share * 100)} %`; };
    try {
      const link = await spokenFile({ text, voice: voice.value, speed: Number(speed.value) }, onShare, mine.signal);
      if (file === mine) end();
      said.replaceChildren(link);
    } catch (problem) {
      if (file === mine) end();
      throw problem;
    }
  };

  const start = async () => {
    const text = field.value;
    if (!text.trim()) throw new Error('There is nothing to read: type or paste a text first.');
    if (isLong(text)) return make(text);
    const pressed = performance.now();
    const words = [];
    const mine = { words };
    mine.player = new Player(rate, {
      onFirst: (ms) => {
        show('speaking');
        byId('first-audio').textContent = inMs(performance.now() - pressed + ms);
        follow(mine);
      },
      onEnd: () => end(),
    });
    mine.context = new Synthesis(line, { text, voice: voice.value || undefined, speed: Number(speed.value), rate }, {
      chunk: (samples, at_s) => mine.player.play(samples, at_s),
      words: (some) => words.push(...some),
      done: (audio_s) => (audio_s ? mine.player.finish() : end(new Error('There is nothing in it that can be spoken.'))),
      failed: end,
    });
    reading = mine;
    show('waiting');
    try {
      await mine.context.speak();
    } catch (problem) {
      end(problem);
    }
  };

  const follow = (mine) => {
    if (reading !== mine) return;
    const word = mine.words.findLast(({ start_s }) => start_s <= mine.player.played_s);
    if (word && word !== mine.shown) reader.show(word.start, word.end);
    mine.shown = word;
    requestAnimationFrame(() => follow(mine));
  };

  const voices = () => complaining(error, async () => {
    const { data } = await askJson('audio/voices');
    rate = data[0].rate;
    const several = new Set(data.map(({ language }) => language)).size > 1;
    const named = ({ id, language }) => `${id[0].toUpperCase()}${id.slice(1)}${several ? ` (${language})` : ''}`;
    voice.replaceChildren(...data.map((one) => new Option(named(one), one.id)));
    voice.disabled = false;
  });

  speed.addEventListener('input', () => { byId('speed-said').textContent = `${Number(speed.value).toFixed(2)} ×`; });
  // A connection takes a moment, so it is made while the reader is still typing or aiming.
  for (const sign of ['input', 'focusin', 'pointerenter']) {
    byId('speak-part').addEventListener(sign, () => { if (key()) line.connect().catch(() => {}); });
  }
  button.addEventListener('click', () => (reading || file ? end() : complaining(error, start)));
  field.addEventListener('input', () => show('idle')); // it cannot be written in at any other time
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) button.click();
    if (event.key === 'Escape') end();
  });
  show('idle');
  return { voices, end };
}
