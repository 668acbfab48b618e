// A text that is too long to be read at once: a job speaks it, and its speech is a file to take away.

import { askJson } from './api.js';
import { clock, element } from './dom.js';
import { finished } from './upload.js';

const MOST_BYTES = 24000; // of a context: the server takes no more
const FORMAT = 'mp3';

/** Whether a text is more than the WebSocket takes at once. */
export const isLong = (text) => text.length > MOST_BYTES / 4 && new TextEncoder().encode(text).length > MOST_BYTES;

/** Has a text spoken as a file; `onShare` is told of the share that is done. Returns a link. Throws a Refusal. */
export async function spokenFile({ text, voice, speed }, onShare, signal) {
  const body = { model: 'tts-1', input: text, voice, speed, response_format: FORMAT };
  const { id } = await askJson('speech-jobs', { method: 'POST', body, signal });
  const job = await finished(id, ({ progress = 0 }) => onShare(progress), signal, 'text cannot be spoken');
  const name = `Speech, ${clock(job.audio_seconds)}, ${FORMAT.toUpperCase()}`;
  return element('a', { href: job.audio, download: `speech.${FORMAT}`, target: '_blank', rel: 'noopener', textContent: name });
}
