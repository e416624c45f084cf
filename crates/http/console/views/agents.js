/** All agents of the account. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { live } from '../vendor/lit-html/directives/live.js';
import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { MOST, hasWords } from '../lib/agents.js';
import { Form } from '../lib/form.js';
import { count } from '../lib/format.js';
import { Loaded, Paged } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { can, isRestricted, session } from '../lib/session.js';
import { dialogForm, open, redraw, toast } from '../ui/layers.js';
import { badge, button, empty, heading, icon, more, problem, textOf, waiting, when } from '../ui/parts.js';
import { NEW_AGENT, answering, bodyOf, nameAndPrompt } from './agent-form.js';

/** With more agents than this, they can be searched. */
const FEW = 9;

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function agentsView(context) {
  const list = new Paged(context, 'v1/agents');
  let text = context.query.get('text') || '';
  const found = () => list.items.filter((agent) => hasWords(agent.name, text) || agent.id === text.trim());
  /** Reads the further pages, if some are searched for. */
  const readAll = () => {
    if (text && list.hasMore && !list.isLoading && !list.error && list.items.length < MOST) list.rest(MOST);
  };
  const keep = () => go(to(['agents'], { text }), { replace: true });
  const search = () => html`<form class="filters" role="search" @submit=${(event) => event.preventDefault()}><label class="grow">Name<input type="search" dir="auto" .value=${live(text)} @change=${keep} @input=${(event) => {
    text = textOf(event);
    context.update();
  }}></label></form>`;
  const mayCreate = can('agents:write') && !isRestricted();
  if (context.query.has('create') && mayCreate) queueMicrotask(create);
  const action = () => button({ label: 'New agent', icon: 'plus', kind: 'primary' }, create);
  return {
    title: 'Agents',
    changed: (query) => {
      if (query.has('create')) return mayCreate && create();
      text = query.get('text') || '';
    },
    render: () => {
      readAll();
      return html`<div class="stack wide">${heading('Agents', { about: 'Each answers from sources of its own.', actions: mayCreate && list.items.length ? action() : nothing })}
        ${!list.isLoaded && !list.error ? waiting() : nothing}
        ${list.isLoaded && !list.items.length ? empty('bot', 'No agents yet', mayCreate ? 'An agent answers questions from the sources that you give it. Create one, then drop a file or a website into it.' : 'Your key may not create any. Ask the owner of the account for one.', mayCreate ? action() : nothing) : nothing}
        ${list.items.length > FEW || text ? search() : nothing}
        <p class="unseen" role="status">${text && !list.isLoading ? count(found().length, 'agent') : ''}</p>
        ${found().length ? html`<ul class="tiles">${repeat(found(), (agent) => agent.id, tile)}</ul>` : nothing}
        ${text && list.isLoaded && !list.isLoading && !list.error && !found().length ? empty('search', 'No matches', 'No agent has all of these words in its name.') : nothing}
        ${text && list.isLoading ? waiting(1) : text && !list.error && !list.hasMore ? nothing : more(list)}</div>`;
    },
  };
}

/** The agents that a key may ask but not read. @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function askable(context) {
  const models = new Loaded(context, (signal) => session.api.get('v1/models', {}, signal));
  return {
    title: 'Agents',
    render: () => html`${heading('Agents', { about: 'Those that your key may ask.' })}${problem(models.error, () => models.reload())}
      ${models.value ? models.value.data.length ? html`<ul class="entries">${models.value.data.map((each) => html`<li><a href=${to(['agents', each.id, 'playground'])}><bdi>${each.name}</bdi></a></li>`)}</ul>` : empty('bot', 'No agents', 'No agent is active.') : models.error ? nothing : waiting()}`,
  };
}

/** @param {any} agent */
const tile = (agent) => html`<li class="tile"><a class="cover" href=${to(['agents', agent.id])}><span class="unseen">Open ${agent.name}</span></a>
  <div class="row apart top"><h2><bdi>${agent.name}</bdi></h2>${badge(agent.status)}</div>
  <p class="quiet lines" dir="auto">${agent.system_prompt || 'No instructions.'}</p>
  <p class="small quiet row apart"><span>${agent.model}</span><span>changed ${when(agent.updated_at)}</span></p>
  <div class="row tight links">${can('conversations:write') ? html`<a class="button small" href=${to(['agents', agent.id, 'playground'])}>${icon('message-circle')}Ask</a>` : nothing}
  ${can('sources:read') ? html`<a class="button small" href=${to(['agents', agent.id, 'sources'])}>${icon('book-open')}Sources</a>` : nothing}</div></li>`;

/** Asks for a new agent. */
export function create() {
  const form = new Form(redraw, NEW_AGENT, 'agent');
  open({
    title: 'New agent',
    content: (close) => dialogForm(form, {
      fields: html`${nameAndPrompt(form)}<details class="more-fields"><summary>${icon('chevron-right')}How it answers</summary><div class="stack">${answering(form)}</div></details>`,
      action: 'Create', close, send: (key) => session.api.json('POST', 'v1/agents', { body: bodyOf(form.values), key }),
      done: (agent) => {
        close();
        toast(`${agent.name} was created.`);
        go(can('sources:read') ? to(['agents', agent.id, 'sources']) : to(['agents', agent.id]));
      },
    }),
  }).then(() => {
    if (location.hash.endsWith('?create=1')) go('#/agents', { replace: true });
  });
}
