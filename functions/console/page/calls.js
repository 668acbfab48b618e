// Live calls: those on the line and those that are over, newest first; one of them is opened.

import { askJson } from './api.js';
import { CallList } from './call-list.js';
import { byId, say } from './dom.js';
import { key } from './key.js';
import { OpenCall } from './open-call.js';

const LOOK_MS = 4000; // between two looks at the list, while somebody sees it
const [SOME, MOST] = [20, 100]; // calls; the API tells 100 at once
const LIVE = new Set(['QUEUED', 'IN_PROGRESS']);
const NOT_DEPLOYED = 'Live calls are not deployed here: they need the parameter WorkerImage of the template.';

/** Makes the part work over a Line. `begin` looks for the calls of another key, `end` forgets those that are shown. */
export function calls(line) {
  const [part, error] = ['calls-part', 'calls-error'].map(byId);
  let [limit, timer, seen] = [SOME, 0, false];

  const show = ({ data, next }) => {
    const live = data.filter(({ status }) => LIVE.has(status)).length;
    tell(byId('calls-said'), live ? `${live} on the line` : '');
    byId('calls-empty').hidden = data.length > 0;
    byId('calls-both').hidden = !data.length;
    byId('calls-more').hidden = !next || limit >= MOST;
    list.show(data);
  };

  const look = async () => {
    clearTimeout(timer);
    const mine = key();
    if (!mine) return;
    let problem = '';
    try {
      const found = await askJson(`calls?limit=${limit}`);
      if (key() !== mine) return; // it was forgotten meanwhile
      show(found);
    } catch ({ code, message }) {
      problem = code === 'unknown_url' ? NOT_DEPLOYED : message;
    }
    if (error.textContent !== problem) say(error, problem); // the same again is not to be read out again
    clearTimeout(timer);
    if (seen && !document.hidden) timer = setTimeout(look, LOOK_MS);
  };

  const open = new OpenCall(line, look);
  const list = new CallList(byId('calls'), (call) => {
    list.mark(call.id);
    open.show(call);
  });

  new IntersectionObserver(([{ isIntersecting }]) => {
    if (isIntersecting && !seen) look();
    seen = isIntersecting;
  }).observe(part);
  document.addEventListener('visibilitychange', () => { if (seen && !document.hidden) look(); });
  byId('calls-more').addEventListener('click', () => {
    limit = Math.min(MOST, limit + SOME);
    look();
  });
  const end = () => {
    open.close();
    show({ data: [], next: null });
    say(error, '');
  };
  return { begin: look, end };
}

function tell(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
