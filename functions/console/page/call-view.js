// What is said in a call: finals by their times, and below them whoever is speaking now, grey while it may still change.

import { line } from './call-line.js';
import { byId, element } from './dom.js';
import { paragraphs } from './transcript.js';

const NO_LETTER = /^\P{L}+$/u; // as 7:30, which is told once for each word that is spoken of it

/** The words of a call, as they come. */
export class CallView {
  #log = byId('call-log');
  #now = byId('call-now');
  #box = byId('call-box');
  #open = new Map(); // channel or reply -> the line of whoever is speaking
  #replies = new Map(); // reply -> { began, at_s, behind_s, words }: those that are not over
  heard_s = 0; // of the call, as far as it has been told

  /** Another call. */
  clear() {
    this.#log.replaceChildren();
    this.#log.ariaLive = 'polite';
    this.#now.replaceChildren();
    this.#open.clear();
    this.#replies.clear();
    this.heard_s = 0;
  }

  /** Whether nothing is shown. */
  get empty() {
    return !this.#log.childElementCount && !this.#now.childElementCount;
  }

  partial({ channel, speaker, words, stable, heard_s }) {
    this.heard_s = Math.max(this.heard_s, heard_s);
    if (!words.length) return this.#close(channel); // what seemed to be speech was none
    const text = words.map((word) => word.text);
    return this.#speaking(channel, speaker, channel, words[0].start_s, text, stable);
  }

  final({ channel, speaker, start_s, end_s, text }) {
    this.heard_s = Math.max(this.heard_s, end_s);
    this.#close(channel);
    if (text) this.#said(speaker, channel, start_s, text);
  }

  /** Its first sound has left for the caller, `ago_s` ago. */
  replyStarts({ reply, turn_end_s, latency_ms, ago_s = 0 }) {
    const at_s = turn_end_s + latency_ms / 1000;
    Object.assign(this.#reply(reply), { began: performance.now() - ago_s * 1000, at_s, behind_s: turn_end_s });
    this.#close(reply); // it had no time yet
    this.#follow(reply);
  }

  /** Words that will sound soon. */
  replyGrows({ reply, words }) {
    const known = this.#reply(reply);
    for (const word of words) {
      if (!(NO_LETTER.test(word.text) && known.words.at(-1)?.text === word.text)) known.words.push(word);
    }
    this.#showReply(reply);
  }

  /** What the caller has heard of it. */
  replyEnds({ reply, text, interrupted, failed, start_s, turn_end_s = this.heard_s }) {
    const why = [interrupted && !failed && 'the caller broke in', failed && `no answer: ${failed}`].filter(Boolean).join('; ');
    if (!this.#replies.has(reply)) Object.assign(this.#reply(reply), { at_s: start_s ?? turn_end_s, behind_s: turn_end_s });
    this.#replyOver(reply, text, why);
  }

  /** Says at the top that lines are missing there. */
  leftOut(text) {
    if (!this.#log.querySelector('.hint')) this.#log.prepend(element('p', { className: 'hint', textContent: text }));
  }

  /** The call is over: what was open is closed, and what came live gives way to the whole transcript. */
  transcript(document) {
    this.clear();
    this.#log.ariaLive = 'off'; // or all of it would be read out
    for (const { channel, words } of paragraphs(document).filter((part) => part.words.length)) {
      const number = Number(channel?.slice(3) ?? 0);
      const speaker = document.results.speakers?.[`ch_${number}`];
      this.#said(speaker, number, words[0].start_s, words.map((word) => word.text).join(' '));
    }
    this.#box.scrollTop = 0;
  }

  #reply(reply) {
    if (!this.#replies.has(reply)) this.#replies.set(reply, { began: null, at_s: this.heard_s, behind_s: this.heard_s, words: [] });
    return this.#replies.get(reply);
  }

  #follow(reply) {
    if (!this.#replies.has(reply)) return;
    this.#showReply(reply);
    requestAnimationFrame(() => this.#follow(reply));
  }

  #showReply(reply) {
    const { at_s, words } = this.#replies.get(reply);
    if (words.length) this.#speaking(reply, 'reply', 0, at_s, words.map((word) => word.text), this.#spoken(reply).length);
  }

  #spoken(reply) {
    const { began, words } = this.#replies.get(reply);
    const played_s = began === null ? -1 : (performance.now() - began) / 1000;
    return words.filter(({ start_s }) => start_s <= played_s);
  }

  #replyOver(reply, text, why) {
    const { at_s, behind_s } = this.#reply(reply);
    this.#close(reply);
    this.#replies.delete(reply);
    if (text || why) this.#said('reply', 0, at_s, text || 'Nothing of it was heard.', { why, behind_s });
  }

  /** The line of somebody who speaks: the first `settled` of its words will not change. */
  #speaking(name, speaker, channel, at_s, words, settled) {
    const shown = `${settled} ${words.join(' ')}`;
    let open = this.#open.get(name);
    if (open?.shown === shown) return;
    if (!open) {
      open = { line: line(speaker, channel, at_s) };
      this.#open.set(name, open);
      this.#now.append(open.line);
    }
    open.shown = shown;
    const front = words.slice(0, settled).join(' ');
    open.line.lastChild.replaceChildren(
      front,
      front && settled < words.length ? ' ' : '',
      element('span', { className: 'open', textContent: words.slice(settled).join(' ') }),
    );
    this.#scroll();
  }

  #close(name) {
    this.#open.get(name)?.line.remove();
    this.#open.delete(name);
  }

  /** A line for good, in its place: a reply stands behind the turn that it answers, however late it came. */
  #said(speaker, channel, at_s, text, { why = '', behind_s = at_s } = {}) {
    const made = line(speaker, channel, at_s);
    made.dataset.place = behind_s;
    made.lastChild.append(text, ...(why ? [element('em', { textContent: ` (${why})` })] : []));
    const later = [...this.#log.children].find((other) => Number(other.dataset.place) > behind_s);
    this.#log.insertBefore(made, later ?? null);
    this.#scroll();
  }

  #scroll() {
    this.#box.scrollTop = this.#box.scrollHeight;
  }
}
