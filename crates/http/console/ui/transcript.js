/** Messages of a conversation, with sources, ratings and receipts. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { Form } from '../lib/form.js';
import { toApiError } from '../lib/load.js';
import { LIMITS } from '../lib/limits.js';
import { can, has, session } from '../lib/session.js';
import { field } from './field.js';
import { dialogForm, open, redraw, toast } from './layers.js';
import { badge, button, icon, sentence, when, words } from './parts.js';
import { openCitation } from './passages.js';
import { prose } from './prose.js';
import { openReceipt } from './receipt.js';

const RECEIPT = '/v1/conversations/{conversation_id}/messages/{n}/receipt';

/**
 * @param {any} message
 * @param {{agent: string, conversation: string | null, update: () => void, isWriting?: boolean}} options
 */
export function messageView(message, options) {
  if (message.role === 'user') {
    return html`<li class="message user" id=${message.n ? `message-${message.n}` : nothing}><span class="unseen">Question:</span><div class="bubble" dir="auto">${message.content}</div></li>`;
  }
  const isStored = Boolean(options.conversation && message.n && !options.isWriting);
  const sources = message.sources_used || [];
  return html`<li class="message assistant" id=${message.n ? `message-${message.n}` : nothing} aria-busy=${options.isWriting ? 'true' : nothing}><span class="unseen">Reply:</span>
    ${message.content ? prose(message.content) : options.isWriting ? html`<p class="writing"><span class="unseen">Writing…</span><i></i><i></i><i></i></p>` : nothing}
    ${sources.length ? html`<ol class="citations" aria-label="Sources">${sources.map((citation, /** @type {number} */ index) => html`<li><button type="button" class="citation"
      @click=${() => openCitation({ agent: options.agent, citation, reply: message.content, message: isStored ? `${options.conversation}.${message.n}` : undefined })}><span class="index">${index + 1}</span><span class="clip" dir="auto">${citation.title}</span></button></li>`)}</ol>` : nothing}
    ${isStored ? html`<div class="row tight under">${message.answered === false || message.answered === undefined && !sources.length ? badge('unanswered', 'not covered by the sources') : nothing}
      ${rating(message, options)}${has('get', RECEIPT) && can('conversations:read') ? button({ label: 'Receipt', icon: 'receipt-text', kind: 'plain', small: true }, () => openReceipt(String(options.conversation), message.n, options.agent)) : nothing}
      ${message.timestamp ? html`<span class="small quiet">${when(message.timestamp)}</span>` : nothing}</div>` : nothing}
    ${message.rating?.comment ? html`<p class="comment small">${icon('message-circle', 13)} <bdi>${message.rating.comment}</bdi></p>` : nothing}</li>`;
}

/** Ratings on their way, by message: each is sent when the one before has been answered. @type {WeakMap<object, Promise<any>>} */
const onTheirWay = new WeakMap();

/** @param {any} message @param {{conversation: string | null, update: () => void}} options */
function rating(message, { conversation, update }) {
  const value = message.rating?.value;
  if (!can('conversations:write')) return value ? html`<span class="small quiet">${icon(value === 'up' ? 'thumbs-up' : 'thumbs-down', 13)} rated ${value}</span>` : nothing;
  const path = `v1/conversations/${conversation}/messages/${message.n}/rating`;
  const rate = async (/** @type {'up' | 'down'} */ wanted) => {
    const before = message.rating;
    const isRemoved = before?.value === wanted;
    message.rating = isRemoved ? null : { value: wanted, comment: null };
    update();
    const earlier = onTheirWay.get(message);
    const sent = (async () => {
      await earlier?.catch(() => {});
      return isRemoved ? session.api.json('DELETE', path) : session.api.json('PUT', path, { body: { value: wanted } });
    })();
    onTheirWay.set(message, sent);
    const isLast = () => onTheirWay.get(message) === sent;
    try {
      const rated = await sent;
      if (isLast()) message.rating = rated;
    } catch (error) {
      if (isLast()) message.rating = before;
      toast(words(sentence(toApiError(error).message)));
    }
    update();
  };
  return html`${button({ label: 'Good reply', icon: 'thumbs-up', kind: 'plain', small: true, hidden: true, pressed: value === 'up' }, () => rate('up'))}
    ${button({ label: 'Bad reply', icon: 'thumbs-down', kind: 'plain', small: true, hidden: true, pressed: value === 'down' }, () => rate('down'))}
    ${value ? button({ label: message.rating.comment ? 'Change the comment' : 'Say why', icon: 'pencil', kind: 'plain', small: true }, () => askWhy(message, path, update)) : nothing}`;
}

/** @param {any} message @param {string} path @param {() => void} update */
function askWhy(message, path, update) {
  const form = new Form(redraw, { comment: message.rating.comment || '' });
  open({
    title: 'Why this rating?',
    content: (close) => dialogForm(form, {
      fields: field(form, { name: 'comment', label: 'Comment', rows: 4, most: LIMITS.comment, autofocus: true }),
      action: 'Save', close, send: () => session.api.json('PUT', path, { body: { value: message.rating.value, comment: form.values.comment } }),
      done: (rated) => {
        message.rating = rated;
        close();
        update();
      },
    }),
  });
}
