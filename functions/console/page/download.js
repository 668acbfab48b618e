// Files of the API that a person takes away.

import { ask } from './api.js';

/** Fetches what lies at `path` of the API and has the browser save it as `name`. Throws a Refusal. */
export async function download(path, name) {
  const blob = await (await ask(path)).blob();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
