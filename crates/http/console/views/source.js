/** One source: its state, its documents, the pages of a website, and its content as it was given. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { newKey } from '../lib/api.js';
import { count, number } from '../lib/format.js';
import { Form } from '../lib/form.js';
import { Loaded, Paged, every, toApiError } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { can, has, session } from '../lib/session.js';
import { dialogForm, open, redraw, toast } from '../ui/layers.js';
import { complete, pairsTable } from '../ui/pairs.js';
import { badge, button, copyable, empty, heading, icon, meter, more, notice, problem, sentence, tabs, waiting, when, words } from '../ui/parts.js';
import { GUARD, KINDS, nameOf } from '../ui/source-kinds.js';
import { isInWork, refresh, remove, sayDone } from './sources.js';

const LIVE_MS = 1500;

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function sourceView(context) {
  const { agent, source: id } = context.params;
  const path = `v1/sources/${encodeURIComponent(id)}`;
  const source = new Loaded(context, (signal) => session.api.get(path, {}, signal));
  /** @type {Record<string, Paged>} */
  const lists = {};
  const list = (name) => (lists[name] ??= new Paged(context, `${path}/${name}`));
  let shown = context.query.get('show') || '';
  every(context, LIVE_MS, async () => {
    if (!source.value || !isInWork(source.value)) return;
    const before = source.value;
    await source.reload();
    sayDone([before], [source.value]);
    await Promise.all(Object.values(lists).map((each) => each.reload()));
  });
  const read = (value) => source.set(value);
  return {
    title: () => (source.value ? nameOf(source.value) : 'Source'),
    changed: (query) => {
      shown = query.get('show') || '';
    },
    render: () => {
      const { value } = source;
      const above = html`<a href=${to(['agents', agent, 'sources'])}>${icon('arrow-left', 13)}Sources</a>`;
      if (!value) return html`${heading('Source', { above })}${source.error ? problem(source.error, () => source.reload()) : waiting(6)}`;
      const kind = KINDS[value.type] || KINDS.text;
      const mayWrite = can('sources:write');
      const views = [['', 'Documents', 'file-text'], ...(value.type === 'website' ? [['pages', 'Pages', 'globe']] : []), ['content', value.type === 'qa' ? 'Pairs' : 'As it was given', kind.icon]];
      return html`<div class="stack wide">${heading(nameOf(value), {
        above, about: html`<span class="row tight">${badge(value.status)}<span>${kind.label}</span><span class="quiet">· ${count(value.character_count || 0, 'character')} · added ${when(value.created_at)}</span>${copyable(value.id, 'the id')}</span>`,
        actions: mayWrite ? html`${value.type === 'qa' && has('post', '/v1/sources/{source_id}/pairs') ? button({ label: 'Add pairs', icon: 'plus', disabled: isInWork(value) }, () => addPairs(value, read)) : nothing}
          ${'guarded' in value && value.type === 'website' ? button({ label: 'Guarded', icon: 'list-checks', pressed: value.guarded, title: GUARD }, () => guard(value, read)) : nothing}
          ${value.type === 'website' ? button({ label: 'Refresh', icon: 'refresh-cw', disabled: isInWork(value) }, () => refresh(value, read)) : nothing}
          ${button({ label: 'Delete', icon: 'trash-2', kind: 'danger' }, () => remove(value, () => go(to(['agents', agent, 'sources']))))}` : nothing })}
        ${value.error_message ? notice('danger', html`<p>${words(sentence(value.error_message))}</p>`) : nothing}
        ${value.partially_read ? notice('warning', html`<p>${count(value.partially_read.documents, 'document was', 'documents were')} read in part: ${words(value.partially_read.reason)}</p>${value.partially_read.pages.length ? html`<p class="small">Pages ${value.partially_read.pages.join(', ')}</p>` : nothing}`) : nothing}
        ${value.progress && isInWork(value) ? html`<div class="card stack tight">${meter(value.progress.pages_done, value.progress.pages_found, 'Pages read')}<p class="small quiet">${number(value.progress.pages_done)} of ${number(value.progress.pages_found)} pages so far${value.progress.pages_failed ? `, ${number(value.progress.pages_failed)} failed` : ''}</p></div>` : nothing}
        ${tabs('Of this source', views.map(([name, label, symbol]) => ({ label, icon: symbol, isCurrent: shown === name, address: to(['agents', agent, 'sources', id], { show: name }) })))}
        ${shown === 'pages' ? pages(list('pages')) : shown === 'content' ? content(value) : documents(list('documents'), value)}</div>`;
    },
  };
}

/** Turns the guard of a website on or off. @param {any} source @param {(read: any) => void} done */
async function guard(source, done) {
  try {
    done(await session.api.json('PATCH', `v1/sources/${source.id}`, { body: { guarded: !source.guarded }, key: newKey() }));
  } catch (error) {
    toast(words(sentence(toApiError(error).message)));
  }
}

/** @param {Paged} list @param {any} source */
function documents(list, source) {
  if (!list.isLoaded && !list.error) return waiting();
  if (list.isLoaded && !list.items.length) {
    return isInWork(source) ? empty('clock', 'It is being read', 'Its documents appear here as soon as it is trained.') : empty('file-text', 'No documents', 'Nothing could be read from this source.');
  }
  return html`<div class="scroll"><table class="table"><thead><tr><th scope="col">Document</th><th scope="col" class="number">Characters</th><th scope="col" class="number rest">Pages</th></tr></thead><tbody>
    ${repeat(list.items, (each) => each.id, (each) => html`<tr><td class="name"><a href=${to(['agents', each.agent_id, 'sources', each.source_id, 'documents', each.id])}><bdi>${each.title || each.url || 'Without a title'}</bdi></a>
      ${each.url ? html`<p class="small quiet clip">${each.url}</p>` : nothing}${each.warnings.map((warning) => html`<p class="small warning-text">${icon('triangle-alert', 12)} ${words(warning.message)}</p>`)}</td>
      <td class="number">${number(each.character_count)}</td><td class="number rest">${number(each.page_count)}</td></tr>`)}</tbody></table></div>${more(list)}`;
}

/** @param {Paged} list */
function pages(list) {
  if (!list.isLoaded && !list.error) return waiting();
  if (list.isLoaded && !list.items.length) return empty('globe', 'No pages yet', 'They appear here as they are found.');
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Pages"><table class="table"><thead><tr><th scope="col">Page</th><th scope="col">State</th><th scope="col" class="number rest">Answer</th><th scope="col" class="number rest">Characters</th><th scope="col" class="rest">Read</th></tr></thead><tbody>
    ${list.items.map((page) => html`<tr><td class="name"><span>${page.title || page.url}</span>${page.title ? html`<p class="small quiet clip">${page.url}</p>` : nothing}${page.reason ? html`<p class="small ${page.status === 'failed' ? 'danger-text' : 'quiet'}">${words(page.reason)}</p>` : nothing}</td>
      <td>${badge(page.status)}</td><td class="number rest">${page.http_status ?? '–'}</td><td class="number rest">${number(page.character_count)}</td><td class="rest quiet nowrap">${page.fetched_at ? when(page.fetched_at) : '–'}</td></tr>`)}</tbody></table></div>${more(list)}`;
}

/** @param {any} source */
function content(source) {
  if (source.type === 'website') return html`<dl class="facts"><div><dt>Address</dt><dd><a href=${/^https?:/i.test(source.content) ? source.content : nothing} target="_blank" rel="noopener noreferrer">${source.content}</a></dd></div></dl>`;
  if (source.type === 'file') return html`<dl class="facts"><div><dt>File</dt><dd><code>${source.content}</code></dd></div></dl>`;
  if (source.type === 'qa') {
    /** @type {any} */
    let pairs = null;
    try {
      pairs = JSON.parse(source.content);
    } catch {
      // It is shown as it is.
    }
    if (Array.isArray(pairs)) return html`<div class="scroll" tabindex="0" role="region" aria-label="Pairs"><table class="table"><thead><tr><th scope="col">Question</th><th scope="col">Answer</th></tr></thead><tbody>${pairs.map((pair) => html`<tr><td dir="auto">${pair.question}</td><td dir="auto">${pair.answer}</td></tr>`)}</tbody></table></div>`;
  }
  return html`<pre class="plain-text" dir="auto" tabindex="0">${source.content}</pre>`;
}

/** @param {any} source @param {(read: any) => void} done */
function addPairs(source, done) {
  const form = new Form(redraw, { pairs: [{ question: '', answer: '' }] }, `more pairs ${source.id}`);
  open({
    title: 'Add pairs',
    content: (close) => dialogForm(form, {
      fields: pairsTable(form), isWide: true, action: 'Add', close, send: (key) => session.api.json('POST', `v1/sources/${source.id}/pairs`, { body: { pairs: complete(form.values.pairs) }, key }),
      done: (read) => {
        close();
        done(read);
        toast('The pairs were added. Until they are trained, the previous ones answer.');
      },
    }),
  });
}
