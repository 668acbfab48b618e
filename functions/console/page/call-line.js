// One line of a dialogue: when it began, who speaks, and what is said.

import { clock, element } from './dom.js';

const NAMES = { customer: 'Caller', agent: 'Agent', reply: 'Reply' };

/** A line that begins `at_s` of the call; its last child is there for the words. */
export function line(speaker, channel, at_s) {
  const known = speaker && speaker !== 'unknown' ? speaker : '';
  return element(
    'p',
    { dataset: { who: NAMES[known] ? known : `speaker-${channel % 2}` } },
    element('time', { textContent: clock(Math.max(0, at_s)) }),
    ' ',
    element('span', { className: 'who', textContent: NAMES[known] ?? (known || `Speaker ${channel + 1}`) }),
    ' ',
    element('span', {}),
  );
}
