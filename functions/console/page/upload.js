// A recording goes straight into S3 by a form that the API has signed; what becomes of it is asked for until it is over.

import { askJson, Refusal } from './api.js';

const FIRST_MS = 300; // between two questions; each wait is half as long again
const LONGEST_MS = 3000;
const TYPES = {
  aac: 'audio/aac', aif: 'audio/aiff', aiff: 'audio/aiff', amr: 'audio/amr', flac: 'audio/flac', m4a: 'audio/mp4',
  mp3: 'audio/mpeg', mp4: 'video/mp4', oga: 'audio/ogg', ogg: 'audio/ogg', opus: 'audio/ogg', wav: 'audio/wav',
  webm: 'audio/webm', wma: 'audio/x-ms-wma',
};

/** The content type of a file: its own, or by its name where the browser knows none that is audio. */
export function typeOf(file) {
  if (/^(audio|video)\/[\w.+-]+$/.test(file.type)) return file.type;
  return TYPES[file.name.split('.').at(-1).toLowerCase()] ?? 'audio/x-unknown'; // the bytes tell, in the end
}

/** Sends a file; `onShare` is told of the share that is sent. Returns the id of its job. Throws a Refusal. */
export async function upload(file, onShare, signal) {
  const body = { filename: file.name.slice(-200), content_type: typeOf(file) };
  const form = await askJson('uploads', { method: 'POST', body, signal });
  if (file.size > form.most_bytes) throw new Refusal(`The file is larger than the ${form.most_bytes >> 20} MiB that are taken.`);
  if (!file.size) throw new Refusal('The file is empty.');
  const data = new FormData();
  for (const [name, value] of Object.entries(form.fields)) data.append(name, value);
  data.append('file', file); // last, as S3 reads no field after it
  await post(form.url, data, onShare, signal);
  return form.id;
}

/** Asks for a job until it is over; `onJob` is told of each answer. Returns the last one, or throws a Refusal. */
export async function finished(id, onJob, signal, failed = 'recording cannot be transcribed') {
  for (let wait_ms = FIRST_MS; ; wait_ms = Math.min(LONGEST_MS, wait_ms * 1.5)) {
    const job = await askJson(`jobs/${id}`, { signal });
    onJob(job);
    if (job.status === 'COMPLETED') return job;
    if (job.status === 'FAILED') throw new Refusal(`This ${failed}: ${job.reason}.`, 0, 'failed');
    await new Promise((resolve) => { setTimeout(resolve, wait_ms); });
  }
}

// By XMLHttpRequest, since fetch does not tell how much has been sent.
function post(url, data, onShare, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', url);
    request.upload.onprogress = ({ loaded, total }) => onShare(loaded / total);
    request.onload = () => (request.status < 300 ? resolve() : reject(new Refusal(`The storage refused the file: ${reason(request)}.`)));
    request.onerror = () => reject(new Refusal('The upload broke off. Is the connection up?'));
    request.onabort = () => reject(new DOMException('aborted', 'AbortError'));
    signal.addEventListener('abort', () => request.abort());
    request.send(data);
  });
}

function reason({ status, responseText }) {
  return /<Message>([^<]+)<\/Message>/.exec(responseText)?.[1] ?? `HTTP ${status}`;
}
