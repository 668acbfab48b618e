// The call that is open: watched live while it goes on, then its transcript to read and to take away.

import { nameOf } from './call-list.js';
import { transcriptOf } from './call-transcript.js';
import { CallView } from './call-view.js';
import { byId, clock, complaining, keepStill, say, showLatest } from './dom.js';
import { download } from './download.js';
import { Series } from './latency.js';
import { ReplySound } from './reply-sound.js';
import { Watching } from './watching.js';

const LIVE = new Set(['QUEUED', 'IN_PROGRESS']);
const ENDS = {
  contact: 'its stream went on with another call',
  idle: 'nothing was heard for a while',
  deleted: 'its stream was deleted',
  failed: 'it could not be heard to its end',
};
// What the view does with an event, and of which figure it has the latest.
const SHOWN = { partial: 'partial', final: 'final', reply_start: 'replyStarts', reply_audio: 'replyGrows', reply_end: 'replyEnds' };
const FIGURES = { partial: 'words', final: 'final', reply_start: 'reply' };
const EARLIER = 'What was said before this is in the transcript, once the call is over.';

/** Shows one call; `onOver` is told when it ends while it is watched. */
export class OpenCall {
  #call = null;
  #watching = null;
  #sound = null;
  #view = new CallView();
  #figures = {};

  constructor(line, onOver) {
    Object.assign(this, { line, onOver });
    byId('call-sound').addEventListener('click', () => complaining(byId('call-error'), () => this.#listen(!this.#sound)));
    byId('call-downloads').addEventListener('click', ({ target }) => {
      const { id } = this.#call;
      const save = () => download(`calls/${id}/transcript?format=${target.value}`, `${id}.${target.value}`);
      if (target.value) complaining(byId('call-error'), save);
    });
  }

  /** Opens a call as the API tells of it. */
  show(call) {
    const again = this.#call?.id === call.id;
    if (!again || !this.#watching) this.#begin(call);
    byId('call').scrollIntoView({ block: 'nearest', behavior: keepStill() ? 'instant' : 'smooth' });
  }

  /** None is open any more. */
  close() {
    this.#watching?.stop();
    this.#listen(false);
    this.#call = this.#watching = null;
    byId('call').hidden = true;
  }

  #begin(call) {
    this.close();
    this.#call = call;
    this.#view.clear();
    this.#figures = { words: new Series(), final: new Series(), reply: new Series() };
    for (const name of Object.keys(this.#figures)) showLatest(`call-${name}`, this.#figures[name]);
    const live = LIVE.has(call.status);
    say(byId('call-error'), '');
    say(byId('call-name'), nameOf(call));
    say(byId('call-id'), nameOf(call) === call.id ? '' : call.id);
    say(byId('call-empty'), live ? 'Nothing has been said yet.' : '');
    byId('call').hidden = false;
    byId('call-figures').hidden = byId('call-sound').hidden = !live;
    byId('call').toggleAttribute('data-live', live);
    byId('call-downloads').hidden = true;
    byId('call-heard').textContent = '';
    if (live) this.#watch(call);
    else this.#over(call);
  }

  #watch({ id }) {
    this.#state('Connecting');
    this.#watching = new Watching(this.line, id, {
      event: (event) => this.#event(event),
      past: (event, told_at) => this.#past(event, told_at),
      leftOut: () => this.#view.leftOut(EARLIER),
      over: ({ reason }) => {
        this.#watching = null;
        this.#over({ id, reason });
        this.onOver();
      },
      waiting: () => this.#state('The connection is lost; trying again'),
      back: () => this.#state(this.#call.status === 'QUEUED' && this.#view.empty ? 'Waiting for a worker' : 'Watching'),
      failed: ({ message }) => {
        this.#watching = null;
        this.#state('');
        say(byId('call-error'), message);
      },
    });
    this.#watching.start();
  }

  #event(event) {
    this.#show(event);
    if (FIGURES[event.type]) this.#late(FIGURES[event.type], event);
    if (event.type === 'reply_audio') this.#play(event);
    if (event.type === 'reply_end' && event.interrupted) this.#sound?.stop();
  }

  /** What was before anybody watched is shown; how late it was, nobody has measured here. */
  #past(event, told_at) {
    const ago_s = event.type === 'reply_start' ? (Date.parse(told_at) - Date.parse(event.at)) / 1000 : 0;
    this.#show({ ...event, ago_s });
  }

  #show(event) {
    const view = this.#view;
    if (SHOWN[event.type]) view[SHOWN[event.type]](event);
    byId('call-empty').hidden = byId('call-empty').hidden || !view.empty;
    this.#state('Watching');
    byId('call-heard').textContent = clock(view.heard_s).slice(0, -2); // not part of the state: that is read out
  }

  #late(name, { latency_ms, words }) {
    if (words && !words.length) return; // what seemed to be speech was none
    this.#figures[name].add(latency_ms);
    showLatest(`call-${name}`, this.#figures[name]);
  }

  #play(event) {
    if (this.#sound) complaining(byId('call-error'), () => this.#sound.play(event));
  }

  #listen(on) {
    this.#sound?.close();
    this.#sound = on ? new ReplySound() : null;
    byId('call-sound').setAttribute('aria-pressed', on);
  }

  /** Reads the transcript of a call that has ended for `reason`. */
  async #over({ id, reason }) {
    this.#listen(false);
    byId('call-sound').hidden = true;
    byId('call').removeAttribute('data-live');
    this.#state('Reading the transcript');
    const said = `Over: ${ENDS[reason] ?? reason}`;
    await complaining(byId('call-error'), async () => {
      const document = await transcriptOf(id, () => this.#call?.id === id);
      if (!document) return;
      this.#view.transcript(document);
      say(byId('call-empty'), this.#view.empty ? 'Nothing was said.' : '');
      byId('call-downloads').hidden = false;
    });
    if (this.#call?.id === id) this.#state(said);
  }

  #state(text) {
    const node = byId('call-said');
    if (node.textContent !== text) node.textContent = text;
  }
}
