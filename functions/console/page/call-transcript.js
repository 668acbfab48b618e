// The transcript of a call, which is there a moment after its end is told.

import { askJson } from './api.js';

const [AGAIN_MS, PATIENCE] = [500, 40]; // between two questions, and how many

/** Its document; undefined where it is not `wanted()` any more. Throws a Refusal. */
export async function transcriptOf(id, wanted) {
  for (let times = 1; wanted(); times += 1) {
    try {
      const document = await askJson(`calls/${id}/transcript`);
      return wanted() ? document : undefined;
    } catch (error) {
      if (error.code !== 'not_completed' || times === PATIENCE) throw error;
    }
    await new Promise((resolve) => { setTimeout(resolve, AGAIN_MS); });
  }
  return undefined;
}
