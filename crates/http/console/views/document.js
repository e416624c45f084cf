/** One document: its passages, or its text, with a passage marked if the address names one. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { count, number } from '../lib/format.js';
import { Loaded, Paged } from '../lib/load.js';
import { to } from '../lib/router.js';
import { can, session } from '../lib/session.js';
import { marked, passagesUntil, placeOf } from '../ui/passages.js';
import { choice, copyable, empty, heading, icon, more, notice, problem, waiting, words } from '../ui/parts.js';

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function documentView(context) {
  const { agent, source, document: id } = context.params;
  const document = new Loaded(context, (signal) => session.api.get(`v1/documents/${encodeURIComponent(id)}`, {}, signal));
  const passages = new Paged(context, `v1/sources/${encodeURIComponent(source)}/passages`, { document_id: id }, 100);
  const given = context.query.get('passage');
  const position = given === null ? null : Number(given);
  let shown = 'passages';
  let hasScrolled = false;
  const reply = new Loaded(context, (signal) => replyOf(context.query.get('reply'), signal));
  // A passage far down the list is read separately from its beginning.
  const around = position === null ? null : new Loaded(context, (signal) => passagesUntil(source, id, position, signal));
  const scroll = () => {
    if (hasScrolled || position === null) return;
    requestAnimationFrame(() => {
      const target = globalThis.document.getElementById(`passage-${position}`);
      if (!target || hasScrolled || !reply.value && reply.isLoading) return;
      hasScrolled = true;
      (target.querySelector('mark') || target).scrollIntoView({ block: 'center' });
    });
  };
  return {
    title: () => document.value?.title || 'Document',
    render: () => {
      const { value } = document;
      const above = html`<a href=${to(['agents', agent, 'sources', source])}>${icon('arrow-left', 13)}Source</a>`;
      if (!value) return html`${heading('Document', { above })}${document.error ? problem(document.error, () => document.reload()) : waiting(8)}`;
      const items = around?.value && around.value.length > passages.items.length ? around.value : passages.items;
      scroll();
      return html`<div class="stack wide reading">${heading(value.title || value.url || 'Without a title', {
        above, about: html`<span class="row tight"><span>${count(value.character_count, 'character')}</span>${value.page_count ? html`<span class="quiet">· ${count(value.page_count, 'page')}</span>` : nothing}${value.table_count ? html`<span class="quiet">· ${count(value.table_count, 'table')}</span>` : nothing}${copyable(value.id, 'the id')}</span>` })}
        ${value.url ? html`<p class="small"><a href=${/^https?:/i.test(value.url) ? value.url : nothing} target="_blank" rel="noopener noreferrer nofollow">${value.url}</a></p>` : nothing}
        ${value.warnings.map((warning) => notice('warning', html`<p>${words(warning.message)}</p>${warning.pages.length ? html`<p class="small">Pages ${warning.pages.slice(0, 100).join(', ')}</p>` : nothing}`))}
        <div>${choice('Show', [{ value: 'passages', label: 'Passages' }, { value: 'text', label: 'Text' }], shown, (next) => {
          shown = next;
          context.update();
        })}</div>
        ${shown === 'text' ? html`<pre class="plain-text" dir="auto" tabindex="0">${value.text}</pre>` : html`${passages.isLoaded && !items.length ? empty('file-text', 'No passages', 'Nothing of it can be found by a question.') : nothing}
          ${passages.isLoaded ? nothing : waiting(6)}
          <ol class="passages">${items.map((passage) => html`<li id="passage-${passage.position}" class="passage ${passage.position === position ? 'cited' : ''}"><p class="small quiet row apart"><span>${placeOf(passage)}</span><span class="number">${number(passage.position + 1)}</span></p>
            <div dir="auto">${passage.position === position ? marked(passage.text, reply.value || '') : passage.text}</div></li>`)}</ol>${items === passages.items ? more(passages) : nothing}`}</div>`;
    },
  };
}

/** The text of a reply, named as `conv_….4`. @param {string | null} name @param {AbortSignal} signal */
async function replyOf(name, signal) {
  const [conversation, n] = (name || '').split('.');
  if (!n || !can('conversations:read')) return '';
  const read = await session.api.get(`v1/conversations/${encodeURIComponent(conversation)}`, {}, signal);
  return read.messages.find((message) => message.n === Number(n))?.content || '';
}
