/** The API keys of the account. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { allAgents } from '../lib/agents.js';
import { at } from '../lib/format.js';
import { Form } from '../lib/form.js';
import { LIMITS } from '../lib/limits.js';
import { Loaded, Paged } from '../lib/load.js';
import { can, choicesOf, session } from '../lib/session.js';
import { field } from '../ui/field.js';
import { confirm, dialogForm, open, redraw, toast } from '../ui/layers.js';
import { button, copyable, empty, heading, icon, more, notice, problem, waiting, when, words } from '../ui/parts.js';

const ABOUT = /** @type {Record<string, string>} */ ({
  'agents:read': 'See agents, usage and statistics', 'agents:write': 'Create, change and delete agents', 'sources:read': 'Read sources and search them', 'sources:write': 'Add and delete sources',
  'conversations:read': 'Read conversations', 'conversations:write': 'Ask, rate and delete', 'conversations:export': 'Export conversations', 'webhooks:read': 'See webhooks and deliveries',
  'webhooks:write': 'Create and change webhooks', 'keys:read': 'See keys and the audit log', 'keys:write': 'Create and change keys', '*': 'Everything',
});

/** The permissions that the key in use can give away. */
function permissions() {
  const held = session.me.api_key.permissions;
  return choicesOf('CreateApiKey', 'permissions').filter((each) => held.includes('*') || held.includes(each));
}

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function keysView(context) {
  const list = new Paged(context, 'v1/api_keys');
  const agents = new Loaded(context, allAgents);
  const mayWrite = can('keys:write');
  const create = () => edit({ list, agents, key: null });
  return {
    title: 'API keys',
    render: () => html`${heading('API keys', { about: 'Give each program a key of its own, with no more than it needs.', actions: mayWrite ? button({ label: 'New key', icon: 'plus', kind: 'primary' }, create) : nothing })}
      ${!list.isLoaded && !list.error ? waiting() : nothing}
      ${list.isLoaded && !list.items.length ? empty('key-round', 'No keys', 'Your key sees keys of its own agents only.') : nothing}
      ${list.items.length ? html`<div class="scroll" tabindex="0" role="region" aria-label="Keys"><table class="table"><thead><tr><th scope="col">Key</th><th scope="col">May</th><th scope="col" class="rest">Last used</th><th scope="col" class="rest">Expires</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead><tbody>
        ${repeat(list.items, (key) => key.id, (key) => html`<tr><td class="name"><span>${key.name}</span> ${key.id === session.me.api_key.id ? html`<span class="badge success">in use here</span>` : nothing}<p class="small quiet mono">${key.hint}</p></td>
          <td><ul class="chips small">${key.permissions.map((each) => html`<li>${each === '*' ? 'everything' : each}</li>`)}</ul>${key.agent_ids ? html`<p class="small quiet">${key.agent_ids.map((id) => agents.value?.find((each) => each.id === id)?.name || id).join(', ')}</p>` : nothing}</td>
          <td class="rest quiet nowrap">${when(key.last_used_at)}</td><td class="rest quiet nowrap">${key.expires_at ? when(key.expires_at) : 'never'}</td>
          <td class="actions">${mayWrite ? html`${button({ label: `Change ${key.name}`, icon: 'pencil', kind: 'plain', small: true, hidden: true }, () => edit({ list, agents, key }))}${button({ label: `Delete ${key.name}`, icon: 'trash-2', kind: 'plain', small: true, hidden: true }, () => remove(key, list))}` : nothing}</td></tr>`)}</tbody></table></div>` : nothing}${more(list)}`,
  };
}

/** @param {any} key @param {Paged} list */
async function remove(key, list) {
  const isSelf = key.id === session.me.api_key.id;
  const isGone = await confirm({ title: `Delete ${key.name}?`, action: 'Delete key', text: html`<p>Programs that use it are refused at once.</p>${isSelf ? html`<p><b>You are signed in with it.</b></p>` : nothing}`, work: (idempotency) => session.api.remove(`v1/api_keys/${key.id}`, idempotency) });
  if (isGone) list.remove(key.id);
}

/** Creates a key, or changes one. @param {{list: Paged, agents: Loaded<any[]>, key: any}} options */
function edit({ list, agents, key }) {
  const form = new Form(redraw, {
    name: key?.name || '', permissions: key?.permissions || ['sources:read', 'conversations:write'], agent_ids: key?.agent_ids || [], expires_at: key?.expires_at ? key.expires_at.slice(0, 10) : '',
  }, key ? '' : 'key');
  /** @type {any} */
  let issued = null;
  const toggle = (/** @type {string} */ name, /** @type {string} */ value) => {
    const held = form.values[name];
    form.set(name, held.includes(value) ? held.filter((each) => each !== value) : [...held, value]);
  };
  const body = () => {
    const { expires_at: expires, agent_ids: ids, ...rest } = form.values;
    return { ...rest, agent_ids: ids.length ? ids : null, expires_at: expires ? key?.expires_at?.startsWith(expires) ? key.expires_at : `${expires}T23:59:59Z` : null };
  };
  const send = (idempotency) => session.api.json(key ? 'PATCH' : 'POST', key ? `v1/api_keys/${key.id}` : 'v1/api_keys', { body: body(), key: idempotency });
  const finish = (/** @type {() => void} */ close) => (done) => {
    const { key: secret, ...shown } = done;
    list.put(shown);
    if (key) {
      close();
      return toast('The key was changed.');
    }
    issued = done;
    form.reset();
    redraw();
  };
  open({
    title: () => (issued ? 'The new key' : key ? 'Change key' : 'New key'),
    content: (close) => (issued ? html`<div class="stack">${issued.key ? html`${notice('warning', html`<p>It is shown only now. Store it where your program reads it.</p>`)}<div class="secret">${copyable(issued.key, 'the key')}</div>` : notice('warning', html`<p>The key was created by an earlier attempt, whose answer was lost; its secret cannot be shown again. Delete it and create another.</p>`)}
      <footer class="row end">${button({ label: 'Done', kind: 'primary' }, () => close())}</footer></div>` : dialogForm(form, { action: key ? 'Save' : 'Create', close, send, done: finish(close), fields: html`
      ${field(form, { name: 'name', label: 'Name', most: LIMITS.name, required: true, autofocus: true, placeholder: 'Website' })}
      <fieldset class="field"><legend>May</legend><div class="permissions">${permissions().map((each) => html`<label class="field check"><input type="checkbox" .checked=${form.values.permissions.includes(each)} @change=${() => toggle('permissions', each)}><span>${ABOUT[each] || each}<br><code class="small quiet">${each}</code></span></label>`)}</div>
        ${form.errors.permissions ? html`<p class="objection">${icon('circle-alert', 13)}<span>${words(form.errors.permissions)}</span></p>` : nothing}</fieldset>
      ${agents.value && !agents.value.length ? nothing : html`<fieldset class="field"><legend>Agents</legend><p class="hint">${form.values.agent_ids.length ? 'Only these.' : 'All, unless you choose some.'}</p>${problem(agents.error, () => agents.reload())}${agents.value || agents.error ? nothing : waiting(2)}<div class="permissions">${agents.value?.map((each) => html`<label class="field check"><input type="checkbox" .checked=${form.values.agent_ids.includes(each.id)} @change=${() => toggle('agent_ids', each.id)}><span>${each.name}</span></label>`)}</div></fieldset>`}
      ${field(form, { name: 'expires_at', label: 'Expires', type: 'date', hint: `At the end of this day, in UTC. Empty: never.${key?.expires_at ? ` Now: ${at(key.expires_at)}.` : ''}` })}` })),
  });
}
