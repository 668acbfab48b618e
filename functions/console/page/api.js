// The REST API beside which this page lies; what it refuses becomes an error whose message a person can read.

import { key } from './key.js';

const BASE = new URL('v1/', document.baseURI); // the page is .../console, the API .../v1
const UNREACHABLE = 'The API cannot be reached. Is it up, and are you online?';
const UNKNOWN_KEY = 'The API does not know this key. Check it, or ask whoever deployed this.';

/** A refusal: `message` in words, `status` of HTTP (0 if there was no answer), `code` for programs. */
export class Refusal extends Error {
  constructor(message, status = 0, code = '') {
    super(message);
    Object.assign(this, { status, code });
  }
}

/** One request; the Response if it went well, otherwise throws a Refusal. `body` is sent as JSON. */
export async function ask(path, { method = 'GET', body, signal } = {}) {
  const headers = { Authorization: `Bearer ${key()}` };
  if (body) headers['Content-Type'] = 'application/json';
  let answer;
  try {
    answer = await fetch(new URL(path, BASE), { method, headers, body: body && JSON.stringify(body), signal });
  } catch (error) {
    throw error.name === 'AbortError' ? error : new Refusal(UNREACHABLE);
  }
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

/** The same, and the JSON of the answer. */
export const askJson = async (path, options) => (await ask(path, options)).json();

async function refusal(answer) {
  const { error } = await answer.json().catch(() => ({}));
  const message = error?.message ?? `The API answered ${answer.status} ${answer.statusText}.`;
  const said = message[0].toUpperCase() + message.slice(1);
  if (answer.status === 401) return new Refusal(key() ? UNKNOWN_KEY : 'Enter your API key first.', 401, error?.code);
  return new Refusal(said, answer.status, error?.code);
}
