// Puts the page together: the key, and the four parts that use it.

import { askJson } from './api.js';
import { calls } from './calls.js';
import { captions } from './captions.js';
import { byId, complaining } from './dom.js';
import { forget, keep, key, takeFromAddress } from './key.js';
import { Line } from './line.js';
import { recordings } from './recordings.js';
import { speak } from './speak.js';

// Speech comes in many messages: those of the captions do not wait behind them on a line of their own.
const [hearing, speaking, watching] = [new Line(), new Line(), new Line({ calls: ['*'] })];
const speech = speak(speaking);
const live = calls(watching);

/** Asks for a key, or shows that there is one. */
function show(accepted) {
  byId('key-part').hidden = accepted;
  byId('key-held').hidden = !accepted;
  byId('key-end').textContent = key().slice(-4);
}

/** Uses the key that is kept, if the API takes it; says why not otherwise. */
async function use() {
  if (!key()) return show(false);
  await complaining(byId('key-error'), async () => {
    try {
      await askJson('models');
      show(true);
      byId('key').value = '';
      await speech.voices();
      live.begin(); // behind the rest: each request that has to be answered meanwhile would start a process
    } catch (error) {
      show(false);
      throw error;
    }
  });
  return undefined;
}

byId('key-form').addEventListener('submit', (event) => {
  event.preventDefault();
  keep(byId('key').value);
  use();
});
byId('key-change').addEventListener('click', () => {
  forget();
  speech.end();
  live.end();
  hearing.hangUp();
  speaking.hangUp();
  watching.hangUp();
  show(false);
  byId('key').focus();
});
window.addEventListener('hashchange', () => {
  takeFromAddress();
  use();
});

captions(hearing);
recordings();
takeFromAddress();
use();
