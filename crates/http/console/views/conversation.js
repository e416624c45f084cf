/** One conversation, as it was held. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { at, count } from '../lib/format.js';
import { Loaded, toApiError } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { can, session } from '../lib/session.js';
import { confirm, toast } from '../ui/layers.js';
import { badge, button, copyable, heading, icon, problem, waiting, when } from '../ui/parts.js';
import { messageView } from '../ui/transcript.js';
import { CHANNELS } from './conversations.js';

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function conversationView(context) {
  const { agent, conversation: id } = context.params;
  const path = `v1/conversations/${encodeURIComponent(id)}`;
  const conversation = new Loaded(context, (signal) => session.api.get(path, {}, signal));
  /** @type {any[]} */
  let older = [];
  /** @type {string | null | undefined} */
  let cursor;
  let isReading = false;
  /** @type {import('../lib/api.js').ApiError | null} */
  let error = null;
  let target = context.query.get('n');
  const readOlder = async () => {
    isReading = true;
    context.update();
    try {
      const page = await session.api.get(`${path}/messages`, { page_size: 100, cursor }, context.signal);
      older = [...page.data.toReversed(), ...older];
      cursor = page.has_more ? page.next_cursor : null;
      error = null;
    } catch (failure) {
      error = toApiError(failure);
    }
    isReading = false;
    context.update();
  };
  const remove = async () => {
    const isGone = await confirm({ title: 'Delete this conversation?', text: 'Its messages, ratings and receipts are deleted with it. It cannot be undone.', action: 'Delete conversation', work: (key) => session.api.remove(path, key) });
    if (!isGone) return;
    toast('The conversation was deleted.');
    go(to(['agents', agent, 'conversations']));
  };
  return {
    title: 'Conversation',
    render: () => {
      const { value } = conversation;
      const above = html`<a href=${to(['agents', agent, 'conversations'])}>${icon('arrow-left', 13)}Conversations</a>`;
      if (!value) return html`${heading('Conversation', { above })}${conversation.error ? problem(conversation.error, () => conversation.reload()) : waiting(6)}`;
      cursor = cursor === undefined ? value.messages_cursor : cursor;
      if (target) {
        const n = target;
        target = null;
        requestAnimationFrame(() => document.getElementById(`message-${n}`)?.scrollIntoView({ block: 'center' }));
      }
      const pairs = Object.entries(value.metadata);
      return html`<div class="stack wide reading">${heading('Conversation', { above, about: html`<span class="row tight"><span>${count(value.message_count, 'message')}</span><span class="quiet">· began ${at(value.created_at)} · ${CHANNELS[value.channel] || value.channel}</span>${copyable(value.id, 'the id')}</span>`,
        actions: can('conversations:write') ? button({ label: 'Delete', icon: 'trash-2', kind: 'danger' }, remove) : nothing })}
        ${value.visitor ? visitorView(value, agent) : nothing}
        ${pairs.length ? html`<dl class="facts">${pairs.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>` : nothing}
        ${problem(error, readOlder)}${cursor ? html`<div>${button({ label: 'Show older messages', icon: 'chevron-up', small: true, busy: isReading }, readOlder)}</div>` : nothing}
        <ol class="messages transcript">${repeat([...older, ...value.messages], (message) => message.n, (message) => messageView(message, { agent, conversation: id, update: context.update }))}</ol></div>`;
    },
  };
}

/** Who asked through a widget, whether a person is wanted, and how to reach the visitor. @param {any} conversation @param {string} agent */
function visitorView({ visitor, lead, handoff_requested_at: wanted }, agent) {
  const fact = (/** @type {string} */ name, /** @type {unknown} */ content) => (content ? html`<div><dt>${name}</dt><dd><bdi>${content}</bdi></dd></div>` : nothing);
  return html`<section class="card stack" aria-label="Visitor">${wanted || lead ? html`<p class="row">${wanted ? html`<span class="row tight">${badge('handoff', 'asked for a person')}<span class="quiet small">${when(wanted)}</span></span>` : nothing}${lead ? badge('lead', 'left contact details') : nothing}</p>` : nothing}
    <dl class="facts"><div><dt>Visitor</dt><dd><bdi>${visitor.name || visitor.subject || 'anonymous'}</bdi> <a class="small nowrap" href=${to(['agents', agent, 'conversations'], { visitor: visitor.id })}>all conversations</a></dd></div>
      ${fact('Identity', visitor.name && visitor.subject)}${fact('Signed-in email', visitor.email)}
      ${lead ? html`${fact('Name', lead.name)}${fact('Email', lead.email)}${fact('Phone', lead.phone)}` : nothing}</dl>
    ${lead?.message ? html`<p class="comment" dir="auto">${lead.message}</p>` : nothing}</section>`;
}
