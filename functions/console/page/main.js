// Puts the page together: the key, and the three parts that use it.

import { askJson } from './api.js';
import { captions } from './captions.js';
import { byId, complaining } from './dom.js';
import { forget, keep, key, takeFromAddress } from './key.js';
import { line } from './line.js';
import { recordings } from './recordings.js';
import { speak } from './speak.js';

const speech = speak(line);

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
  line.hangUp();
  show(false);
  byId('key').focus();
});
window.addEventListener('hashchange', () => {
  takeFromAddress();
  use();
});

captions(line);
recordings();
takeFromAddress();
use();
