/** The sources of an agent, live. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { live } from '../vendor/lit-html/directives/live.js';
import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { compact, count, number } from '../lib/format.js';
import { Form } from '../lib/form.js';
import { LIMITS } from '../lib/limits.js';
import { Paged, every } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { can, session } from '../lib/session.js';
import { confirm, say, toast } from '../ui/layers.js';
import { placeOf } from '../ui/passages.js';
import { badge, button, choice, empty, heading, icon, meter, more, problem, textOf, waiting, when, words } from '../ui/parts.js';
import { KINDS, nameOf } from '../ui/source-kinds.js';
import { Uploads, addSource } from './add-source.js';

const LIVE_MS = 1500;
/** Sources that are still being read. */
export const isInWork = (source) => source.status === 'pending' || source.status === 'processing';

/** Says which sources have been read. @param {any[]} before @param {any[]} after */
export function sayDone(before, after) {
  const done = after.filter((source) => !isInWork(source) && before.some((each) => each.id === source.id && isInWork(each)));
  if (done.length) say(done.map((source) => `${nameOf(source)}: ${source.status}.`).join(' '));
}

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function sourcesView(context) {
  const { agent } = context.params;
  let query = context.query;
  const path = `v1/agents/${encodeURIComponent(agent)}/sources`;
  const filters = () => ({ type: query.get('type'), status: query.get('status') });
  let list = new Paged(context, path, filters());
  const mayWrite = can('sources:write');
  const added = (source) => list.put(source);
  const uploads = Uploads.of(agent, added, context);
  let isOver = false;
  every(context, LIVE_MS, async () => {
    if (!list.items.some(isInWork) || list.isLoading) return;
    const before = list.items;
    await list.reload();
    sayDone(before, list.items);
  });
  const add = (kind) => addSource({ agent, kind, uploads, added });
  const asked = (/** @type {URLSearchParams} */ wanted) => {
    const kind = wanted.get('add');
    if (!kind || !mayWrite) return;
    go(to(['agents', agent, 'sources']), { replace: true });
    queueMicrotask(() => add(kind));
  };
  asked(query);
  const filter = (/** @type {string} */ name, /** @type {string} */ value) => go(to(['agents', agent, 'sources'], { ...filters(), [name]: value }));
  const drop = (event) => {
    event.preventDefault();
    isOver = false;
    uploads.add(event.dataTransfer?.files || []);
  };
  const isFiltered = () => Boolean(query.get('type') || query.get('status'));
  const search = new Search(agent, context);
  return {
    title: 'Sources',
    changed: (next) => {
      const before = JSON.stringify(filters());
      query = next;
      asked(next);
      if (JSON.stringify(filters()) !== before) list = new Paged(context, path, filters());
    },
    render: () => html`<div class="stack wide ${isOver ? 'dropping' : ''}" @dragover=${mayWrite ? (event) => {
      event.preventDefault();
      if (!isOver) context.update();
      isOver = true;
    } : nothing} @dragleave=${(event) => {
      if (!/** @type {Element} */ (event.currentTarget).contains(/** @type {Node} */ (event.relatedTarget))) {
        isOver = false;
        context.update();
      }
    }} @drop=${mayWrite ? drop : nothing}>
      ${heading('Sources', { about: 'What the agent answers from.', actions: mayWrite ? html`${button({ label: 'Add content', icon: 'plus', kind: 'primary' }, () => add('file'))}` : nothing })}
      ${uploads.view()}
      ${list.items.length || isFiltered() ? html`<div class="row apart">${choice('Type', [{ value: '', label: 'All' }, ...Object.entries(KINDS).map(([value, { label }]) => ({ value, label: value === 'qa' ? 'Q&A' : label }))], query.get('type') || '', (value) => filter('type', value))}
        <label class="row tight"><span class="unseen">State</span><select @change=${(event) => filter('status', textOf(event))}>${['', 'trained', 'processing', 'pending', 'failed'].map((each) => html`<option value=${each} .selected=${live((query.get('status') || '') === each)}>${each || 'Every state'}</option>`)}</select></label></div>` : nothing}
      ${!list.isLoaded && !list.error ? waiting() : nothing}
      ${list.isLoaded && !list.items.length ? isFiltered() ? empty('search', 'No matches', 'No source has this type and state.', html`<a class="button" href=${to(['agents', agent, 'sources'])}>Show all</a>`) : first(mayWrite, uploads, add) : nothing}
      ${list.items.length ? html`<div class="scroll"><table class="table sources"><thead><tr><th scope="col">Source</th><th scope="col">State</th><th scope="col" class="number rest">Characters</th><th scope="col" class="rest">Added</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
        <tbody>${repeat(list.items, (source) => source.id, (source) => row(source, list, mayWrite))}</tbody></table></div>` : nothing}${more(list)}
      ${list.items.some((source) => source.status === 'trained') ? search.view() : nothing}</div>`,
  };
}

/** @param {boolean} mayWrite @param {Uploads} uploads @param {(kind: string) => void} add */
const first = (mayWrite, uploads, add) => (mayWrite ? html`<div class="first-source"><label class="dropzone">${icon('upload', 28)}<b>Drop files here, or choose them</b><span class="quiet">A PDF, a Word file, a table, a text. The agent answers from it as soon as it is trained.</span>
  <input class="unseen" type="file" name="first-files" multiple @change=${(event) => uploads.add(/** @type {HTMLInputElement} */ (event.target).files || [])}></label>
  <div class="row center"><span class="quiet">or add</span>${['website', 'text', 'qa'].map((kind) => button({ label: kind === 'qa' ? 'questions and answers' : `a ${kind}`, icon: KINDS[kind].icon, small: true }, () => add(kind)))}</div></div>`
  : empty('book-open', 'No sources yet', 'Your key may not add any.'));

/** @param {any} source @param {Paged} list @param {boolean} mayWrite */
function row(source, list, mayWrite) {
  const kind = KINDS[source.type] || KINDS.text;
  const { progress } = source;
  return html`<tr><td class="name"><span class="kind" title=${kind.label}>${icon(kind.icon)}<span class="unseen">${kind.label}</span></span><a href=${to(['agents', source.agent_id, 'sources', source.id])}><bdi>${nameOf(source)}</bdi></a>
    ${source.error_message ? html`<p class="small danger-text">${words(source.error_message)}</p>` : nothing}</td>
    <td>${badge(source.status)}${source.partially_read ? html` <span title=${source.partially_read.reason.replaceAll('`', '')}>${badge('partly', 'read in part')}</span>` : nothing}
      ${progress && isInWork(source) ? html`<div class="progress">${meter(progress.pages_done, progress.pages_found, 'Pages read')}<span class="small quiet number">${number(progress.pages_done)} of ${number(progress.pages_found)} pages</span></div>` : nothing}</td>
    <td class="number rest" title=${number(source.character_count)}>${compact(source.character_count)}</td><td class="rest quiet nowrap">${when(source.created_at)}</td>
    <td class="actions">${mayWrite ? html`${source.type === 'website' ? button({ label: `Refresh ${nameOf(source)}`, icon: 'refresh-cw', kind: 'plain', small: true, hidden: true, disabled: isInWork(source) }, () => refresh(source, (read) => list.put(read))) : nothing}
      ${button({ label: `Delete ${nameOf(source)}`, icon: 'trash-2', kind: 'plain', small: true, hidden: true }, () => remove(source, () => list.remove(source.id)))}` : nothing}</td></tr>`;
}

/** Crawls a website again. @param {any} source @param {(read: any) => void} done */
export function refresh(source, done) {
  return confirm({
    title: 'Refresh this website?', kind: 'primary', action: 'Refresh', text: html`<p>Its pages are read again. Until that is done, replies use the previous content.</p>`,
    work: async (key) => done(await session.api.json('POST', `v1/sources/${source.id}/refresh`, { key })),
  });
}

/** Deletes a source. @param {any} source @param {() => void} done */
export async function remove(source, done) {
  const isGone = await confirm({
    title: 'Delete this source?', action: 'Delete source', text: html`<p><b>${nameOf(source)}</b> and everything that was read from it are deleted. The next reply no longer uses it.</p>`,
    work: (key) => session.api.remove(`v1/sources/${source.id}`, key),
  });
  if (!isGone) return;
  toast('The source was deleted.');
  done();
}

/** Searches the sources as a question does. */
class Search {
  /** @param {string} agent @param {import('../app.js').Context} context */
  constructor(agent, context) {
    this.agent = agent;
    this.form = new Form(context.update, { query: '' });
    /** @type {any} */
    this.result = null;
  }

  view() {
    const { form, result } = this;
    return html`<section class="card stack"><div><h2>What does a question find?</h2><p class="quiet">The passages that a reply would be based on, without asking for one.</p></div>
      <form class="row" role="search" @submit=${async (event) => {
        event.preventDefault();
        const found = await form.submit(() => session.api.json('POST', `v1/agents/${this.agent}/search`, { body: { query: form.values.query, limit: 8 } }));
        if (found) {
          this.result = found;
          say(`${count(found.data.length, 'passage was', 'passages were')} found.`);
        }
        form.update();
      }}><input class="grow" type="search" dir="auto" aria-label="Question" placeholder="When do you open?" maxlength=${LIMITS.message} .value=${form.values.query} @input=${(event) => form.set('query', textOf(event))}>
        ${button({ label: 'Search', icon: 'search', type: 'submit', busy: form.isBusy })}</form>
      ${problem(form.error)}
      ${result ? html`<p class="small quiet">Confidence ${result.confidence.toFixed(2)}: ${result.confidence >= result.floor ? 'a question would be answered' : 'a question would not be answered'}, the floor is ${result.floor.toFixed(2)}.</p>
        ${result.data.length ? html`<ol class="hits">${result.data.map((hit) => html`<li><div class="row apart"><a class="clip" href=${to(['agents', this.agent, 'sources', hit.source_id, 'documents', hit.document_id], { passage: hit.position })}><bdi>${hit.title || 'Without a title'}</bdi></a><span class="number small">${hit.score.toFixed(2)}</span></div>
          ${placeOf(hit) ? html`<p class="small quiet">${placeOf(hit)}</p>` : nothing}<p class="small lines" dir="auto">${hit.text}</p></li>`)}</ol>` : html`<p class="quiet">Nothing was found.</p>`}` : nothing}</section>`;
  }
}
