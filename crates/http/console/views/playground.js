/** Asks an agent, or two side by side. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { live } from '../vendor/lit-html/directives/live.js';
import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { agentOf, allAgents } from '../lib/agents.js';
import { newKey } from '../lib/api.js';
import { characters, number } from '../lib/format.js';
import { LIMITS } from '../lib/limits.js';
import { Loaded, toApiError } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { can, session } from '../lib/session.js';
import { holdsUnsent } from '../lib/unsent.js';
import { button, empty, heading, icon, linkButton, problem, textOf } from '../ui/parts.js';
import { messageView } from '../ui/transcript.js';

const FRAME_MS = 16;
/** Questions that are being written or have no reply, by agent. @type {Map<string, string>} */
const drafts = new Map();

/** Conversations that continue when the playground is opened again with the same API key, by the agent of the view and the agent of the conversation. @type {Map<string, {thread: Thread, api: unknown}>} */
const left = new Map();

holdsUnsent({ has: () => drafts.size > 0, forget: () => {
  drafts.clear();
  left.clear();
} });

/** A conversation that goes on here. */
class Thread {
  /** @param {string} agent @param {() => void} update */
  constructor(agent, update) {
    this.agent = agent;
    this.update = update;
    /** @type {any[]} */
    this.messages = [];
    /** @type {string | null} */
    this.conversation = null;
    /** @type {import('../lib/api.js').ApiError | null} */
    this.error = null;
    /** @type {AbortController | null} */
    this.stop = null;
    /** The question that has no reply yet, with its idempotency key. @type {{text: string, key: string} | null} */
    this.open = null;
  }

  get isBusy() {
    return this.stop !== null;
  }

  /** @param {string} text */
  async ask(text) {
    this.open = { text, key: newKey() };
    this.messages.push({ role: 'user', content: text });
    await this.send();
  }

  /** Sends the open question, again if it failed. */
  async send() {
    if (!this.open || this.stop) return;
    const { text, key } = this.open;
    this.error = null;
    this.stop = new AbortController();
    const reply = { role: 'assistant', content: '', sources_used: [], n: null, answered: undefined };
    this.messages.push(reply);
    this.update();
    try {
      const body = { agent_id: this.agent, message: text, ...(this.conversation ? { conversation_id: this.conversation } : {}) };
      const done = await session.api.stream(body, { key, signal: this.stop.signal, onToken: (piece) => {
        reply.content += piece;
        this.update();
      } });
      Object.assign(reply, { sources_used: done.sources_used, n: done.n, answered: done.sources_used.length > 0 });
      this.conversation = done.conversation_id;
      this.open = null;
    } catch (error) {
      this.messages.pop();
      if (!this.stop.signal.aborted) this.error = toApiError(error);
      // A conversation that was deleted elsewhere begins anew.
      if (this.error?.status === 404 && this.conversation) this.conversation = null;
      // A refusal belongs to its key.
      if (this.error?.isSettled && this.open) this.open.key = newKey();
    }
    this.stop = null;
    this.update();
  }

  /** Takes the open question back. */
  takeBack() {
    this.stop?.abort();
    const text = this.open?.text || '';
    this.messages = this.messages.filter((message) => !(message.role === 'user' && message === this.messages.findLast((each) => each.role === 'user')));
    Object.assign(this, { open: null, error: null });
    return text;
  }
}

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function playground(context) {
  const { agent } = context.params;
  let isDue = false;
  /** Draws at most once a frame, however fast the reply comes. */
  const draw = () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      if (context.signal.aborted) return;
      context.update();
      // Follows the reply, unless the person has scrolled up.
      const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 120;
      if (isAtEnd) requestAnimationFrame(() => scrollTo(0, document.documentElement.scrollHeight));
    }, FRAME_MS);
  };
  const name = (id) => new Loaded(context, (signal) => agentOf(id, signal));
  let text = drafts.get(agent) || '';
  /** Keeps what would be lost with the view: the question without a reply, and what is being written. */
  const keep = () => {
    if (context.signal.aborted) return;
    const kept = [threads.find((thread) => thread.open)?.open?.text, text].filter(Boolean).join('\n');
    if (kept) drafts.set(agent, kept);
    else drafts.delete(agent);
  };
  const changed = () => {
    keep();
    draw();
  };
  const threadOf = (/** @type {string} */ id) => {
    const kept = left.get(`${agent} ${id}`);
    return kept?.api === session.api ? Object.assign(kept.thread, { update: changed }) : new Thread(id, changed);
  };
  /** Ends what is being asked, and keeps the rest for when the view is opened again. @param {Thread} thread */
  const leave = (thread) => {
    if (thread.open) thread.takeBack();
    left.set(`${agent} ${thread.agent}`, { thread, api: session.api });
  };
  let threads = [threadOf(agent)];
  let shown = [name(agent)];
  /** @type {any[]} */
  let others = [];
  const other = context.query.get('beside');
  context.signal.addEventListener('abort', () => threads.forEach(leave), { once: true });
  if (can('agents:read')) {
    allAgents(context.signal).then((agents) => {
      others = agents.filter((each) => each.id !== agent);
      context.update();
    }, () => {});
  }
  /** @param {string | null} id */
  const setBeside = (id) => {
    threads.slice(1).forEach(leave);
    threads = threads.slice(0, 1);
    shown = shown.slice(0, 1);
    if (id) {
      threads.push(threadOf(id));
      shown.push(name(id));
    }
  };
  if (other) setBeside(other);
  const isBusy = () => threads.some((thread) => thread.isBusy);
  const write = (written) => {
    text = written;
    keep();
    context.update();
  };
  const ask = (/** @type {Event | null} */ event) => {
    event?.preventDefault();
    const question = text.trim();
    if (!question || isBusy() || characters(question) > LIMITS.message) return;
    write('');
    for (const thread of threads) {
      if (thread.open) thread.takeBack();
      thread.ask(question);
    }
  };
  const takeBack = () => {
    const taken = threads.map((thread) => thread.takeBack()).find(Boolean);
    write(taken || text);
  };
  const stop = (/** @type {MouseEvent} */ event) => {
    // The second click of two belongs to Ask, which was in this place.
    if (event.detail < 2) threads.forEach((thread) => thread.stop?.abort());
  };
  const begin = () => {
    threads = threads.map((thread) => new Thread(thread.agent, changed));
    keep();
    context.update();
    /** @type {HTMLElement | null} */ (document.querySelector('.composer textarea'))?.focus();
  };
  const press = (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    ask(event);
  };
  /** What is said to those who cannot see it; a refusal says itself. */
  const status = () => {
    if (isBusy()) return 'The agent is writing.';
    const unanswered = threads.find((thread) => thread.open);
    if (unanswered) return unanswered.error ? '' : 'The reply was stopped.';
    return isEmpty() ? '' : 'The reply is complete.';
  };
  const isEmpty = () => threads.every((thread) => !thread.messages.length);
  return {
    title: 'Playground',
    isWide: Boolean(other),
    changed: (query) => setBeside(query.get('beside')),
    render: () => html`<div class="playground ${threads.length > 1 ? 'two' : ''}">
      ${heading('Playground', { actions: html`
        ${others.length ? html`<label class="row tight beside">${icon('columns-2')}<span class="unseen">Beside</span><select @change=${(event) => go(to(['agents', agent, 'playground'], { beside: textOf(event) }))}>
          <option value="" .selected=${live(threads.length === 1)}>Compare with…</option>${others.map((each) => html`<option value=${each.id} .selected=${live(threads[1]?.agent === each.id)}>${each.name}</option>`)}</select></label>` : nothing}
        ${isEmpty() ? nothing : button({ label: 'New conversation', icon: 'plus' }, begin)}` })}
      ${shown[0].error ? problem(shown[0].error) : nothing}
      <div class="threads">${threads.map((thread, index) => html`<section class="thread" aria-label=${shown[index].value?.name || 'Conversation'}>
        ${threads.length > 1 ? html`<header class="row apart"><h2 class="clip" dir="auto">${shown[index].value?.name || '…'}</h2><span class="small quiet">${shown[index].value?.model}, ${shown[index].value?.answer_floor}</span></header>` : nothing}
        ${thread.messages.length ? html`<div role="log" aria-live="off" aria-label="Messages"><ol class="messages">${repeat(thread.messages, (_, at) => at, (message, at) => messageView(message, {
          agent: thread.agent, conversation: thread.conversation, update: context.update, isWriting: thread.isBusy && at === thread.messages.length - 1 && message.role === 'assistant',
        }))}</ol></div>` : threads.length > 1 ? html`<p class="quiet">Your questions go to both.</p>` : empty('message-circle', `Ask ${shown[0].value?.name || 'the agent'}`, 'It answers from its sources, and every reply names those that it is based on.', can('sources:write') ? linkButton(to(['agents', agent, 'sources']), { label: 'Look at the sources', icon: 'book-open' }) : nothing)}
        ${thread.error ? html`${problem(thread.error, () => thread.send())}<div class="row">${button({ label: 'Change the question', icon: 'pencil', small: true }, takeBack)}</div>` : nothing}
        ${thread.open && !thread.isBusy && !thread.error ? html`<div class="row small quiet">Stopped. ${button({ label: 'Ask again', icon: 'rotate-ccw', small: true }, () => thread.send())}${button({ label: 'Change the question', icon: 'pencil', small: true }, takeBack)}</div>` : nothing}
        ${thread.conversation && can('conversations:read') && !thread.isBusy ? html`<p class="small quiet end-of-thread"><a href=${to(['agents', thread.agent, 'conversations', thread.conversation])}>Open in conversations</a></p>` : nothing}
      </section>`)}</div>
      <div class="unseen" role="status">${status()}</div>
      <form class="composer" @submit=${ask}><label class="unseen" for="question">Your question</label>
        <textarea id="question" dir="auto" name="question" rows="1" placeholder="Ask a question" autocomplete="off" aria-describedby="question-limit" .value=${text} @keydown=${press} @input=${(event) => write(textOf(event))}></textarea>
        <div class="row tight"><span class="limit ${characters(text) > LIMITS.message ? 'over' : ''}" id="question-limit">${number(characters(text))} / ${number(LIMITS.message)}</span>
        ${isBusy() ? button({ label: 'Stop', icon: 'square', hidden: true }, stop) : button({ label: 'Ask', icon: 'arrow-up', kind: 'primary', type: 'submit', hidden: true, disabled: !text.trim() || characters(text) > LIMITS.message })}</div></form>
    </div>`,
  };
}
