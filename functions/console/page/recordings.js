// Recordings: a file that is dropped or chosen becomes a transcript to click through, and files to take away.

import { askJson } from './api.js';
import { byId, clock, complaining, inMs, say } from './dom.js';
import { download } from './download.js';
import { Transcript, paragraphs } from './transcript.js';
import { finished, upload } from './upload.js';
import { Waveform } from './waveform.js';

const SAID = { AWAITING_UPLOAD: 'Arriving', QUEUED: 'Waiting for its turn', IN_PROGRESS: 'Transcribing', COMPLETED: 'Done' };

/** Makes the part work. */
export function recordings() {
  const [zone, input, audio, play] = ['drop', 'file', 'audio', 'play'].map(byId);
  const error = byId('recordings-error');
  const seek = (at_s) => {
    if (!play.disabled) audio.currentTime = at_s;
    moved(at_s);
  };
  const waveform = new Waveform(byId('waveform'), seek);
  const transcript = new Transcript(byId('transcript'), seek);
  let current = null; // { file, job, stop }

  const moved = (at_s) => {
    waveform.show(at_s);
    transcript.show(at_s);
    byId('place').textContent = `${clock(at_s)} / ${clock(waveform.duration_s)}`;
  };

  const progress = (text, share) => {
    byId('progress-said').textContent = text;
    const bar = byId('progress');
    if (share === undefined) bar.removeAttribute('value');
    else bar.value = share;
  };

  const take = async (file) => {
    current?.stop.abort();
    const mine = { file, stop: new AbortController(), began: performance.now() };
    current = mine;
    byId('result').hidden = true;
    byId('progress-part').hidden = false;
    byId('file-name').textContent = file.name;
    listenTo(file);
    progress('Uploading', 0);
    await waveform.load(file);
    try {
      const id = await upload(file, (share) => progress(`Uploading, ${Math.round(share * 100)} %`, share), mine.stop.signal);
      const arrived = performance.now();
      progress('Arriving');
      mine.job = await finished(id, (job) => progress(SAID[job.status]), mine.stop.signal);
      const words = paragraphs(await askJson(`jobs/${id}/transcript`, { signal: mine.stop.signal }));
      show(mine.job, words, performance.now() - arrived);
    } finally {
      if (current === mine) byId('progress-part').hidden = true;
    }
  };

  const listenTo = (file) => {
    if (audio.src) URL.revokeObjectURL(audio.src);
    play.disabled = true; // until the browser says that it can
    audio.src = URL.createObjectURL(file);
  };

  const show = (job, parts, took_ms) => {
    if (!waveform.samples) waveform.measure(job.audio_seconds);
    byId('result').hidden = false;
    transcript.fill(parts);
    waveform.mark(transcript.words);
    moved(0);
    byId('took').textContent = `${clock(job.audio_seconds)} of audio, ${inMs(took_ms)} after the upload`;
    for (const button of byId('downloads').querySelectorAll('button')) button.hidden = !job.formats.includes(button.value);
    say(byId('warnings'), (job.warnings ?? []).join(' '));
  };

  const save = (format) => {
    const name = current.file.name.replace(/\.[^.]*$/, '');
    return download(`jobs/${current.job.id}/transcript?format=${format}`, `${name}.${format}`);
  };

  const tick = () => {
    if (audio.paused) return;
    moved(audio.currentTime);
    requestAnimationFrame(tick);
  };

  audio.addEventListener('canplay', () => { play.disabled = false; });
  audio.addEventListener('play', () => { play.dataset.state = 'playing'; play.setAttribute('aria-label', 'Pause'); tick(); });
  audio.addEventListener('pause', () => { play.dataset.state = 'idle'; play.setAttribute('aria-label', 'Play'); });
  play.addEventListener('click', () => (audio.paused ? audio.play() : audio.pause()));
  byId('downloads').addEventListener('click', ({ target }) => {
    if (target.value) complaining(error, () => save(target.value));
  });
  input.addEventListener('change', () => {
    const [file] = input.files;
    input.value = ''; // so that the same file may be chosen again
    if (file) complaining(error, () => take(file));
  });
  for (const name of ['dragenter', 'dragover']) {
    zone.addEventListener(name, (event) => { event.preventDefault(); zone.dataset.over = 'true'; });
  }
  for (const name of ['dragleave', 'drop']) zone.addEventListener(name, () => { delete zone.dataset.over; });
  zone.addEventListener('drop', (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) complaining(error, () => take(file));
  });
}
