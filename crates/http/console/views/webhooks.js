/** The webhook endpoints of the account. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { Form } from '../lib/form.js';
import { LIMITS } from '../lib/limits.js';
import { Paged } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { can, choicesOf, isRestricted, session } from '../lib/session.js';
import { check, field } from '../ui/field.js';
import { dialogForm, open, redraw, toast } from '../ui/layers.js';
import { badge, button, copyable, empty, heading, icon, more, notice, waiting, when, words } from '../ui/parts.js';

const EVENTS = /** @type {Record<string, string>} */ ({ 'source.trained': 'A source was trained', 'source.failed': 'A source failed', 'checks.failed': 'Checks failed', 'conversation.handoff_requested': 'A visitor asked for a person', 'message.rated': 'A reply was rated', 'lead.captured': 'A visitor left contact details' });

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function webhooksView(context) {
  const list = new Paged(context, 'v1/webhook_endpoints');
  const mayWrite = can('webhooks:write') && !isRestricted();
  const action = () => button({ label: 'New endpoint', icon: 'plus', kind: 'primary' }, () => editEndpoint(null, (endpoint) => {
    list.put(endpoint);
    go(to(['webhooks', endpoint.id]));
  }));
  return {
    title: 'Webhooks',
    render: () => html`${heading('Webhooks', { about: 'Tell your own programs what happens: a source was trained, a visitor asks for a person, a reply was rated.', actions: mayWrite && list.items.length ? action() : nothing })}
      ${!list.isLoaded && !list.error ? waiting() : nothing}
      ${list.isLoaded && !list.items.length ? empty('webhook', 'No endpoints yet', mayWrite ? 'An endpoint is an address of yours. It receives a signed request for every event, repeated until it answers.' : 'Your key may not create any.', mayWrite ? action() : nothing) : nothing}
      ${list.items.length ? html`<ul class="entries">${repeat(list.items, (each) => each.id, (each) => html`<li><div class="row apart"><a class="clip" href=${to(['webhooks', each.id])}>${each.url}</a>${badge(each.status)}</div>
        <p class="small quiet row tight">${each.description ? html`<span>${each.description} ·</span>` : nothing}<span>${receives(each)} · added ${when(each.created_at)}</span></p>
        ${each.disabled_reason ? html`<p class="small danger-text">${icon('circle-alert', 12)} ${words(each.disabled_reason)}</p>` : nothing}</li>`)}</ul>` : nothing}${more(list)}`,
  };
}

/** The events that an endpoint can receive. */
const events = () => choicesOf('CreateWebhookEndpoint', 'events');

/** Whether an endpoint receives whatever happens. @param {any} endpoint */
export const receivesAll = (endpoint) => events().every((each) => endpoint.events.includes(each));

/** @param {any} endpoint */
const receives = (endpoint) => (receivesAll(endpoint) ? 'every event' : endpoint.events.join(', '));

/** Creates an endpoint, or changes one. @param {any} endpoint @param {(endpoint: any) => void} done Called when the secret was shown. */
export function editEndpoint(endpoint, done) {
  const form = new Form(redraw, { url: endpoint?.url || '', description: endpoint?.description || '', events: endpoint?.events || [], is_thin: endpoint?.payload === 'thin' }, endpoint ? '' : 'endpoint');
  /** @type {any} */
  let issued = null;
  const send = (key) => {
    const { is_thin: isThin, description, ...rest } = form.values;
    const body = { ...rest, events: rest.events.length ? rest.events : null, url: rest.url.trim(), description: description || null, payload: isThin ? 'thin' : 'full' };
    return session.api.json(endpoint ? 'PATCH' : 'POST', endpoint ? `v1/webhook_endpoints/${endpoint.id}` : 'v1/webhook_endpoints', { body, key });
  };
  const finish = (/** @type {() => void} */ close) => (read) => {
    if (endpoint) {
      close();
      toast('The endpoint was changed.');
      return done(read);
    }
    issued = read;
    form.reset();
    redraw();
  };
  open({
    title: () => (issued ? 'The secret of the endpoint' : endpoint ? 'Change endpoint' : 'New endpoint'),
    content: (close) => (issued ? secret(issued, close) : dialogForm(form, { action: endpoint ? 'Save' : 'Create', close, send, done: finish(close), fields: html`
      ${field(form, { name: 'url', label: 'Address', type: 'url', most: LIMITS.url, required: true, autofocus: true, placeholder: 'https://example.com/hook', hint: 'A public https address.', spellcheck: false })}
      ${field(form, { name: 'description', label: 'Description', most: LIMITS.description })}
      <fieldset class="field"><legend>Events</legend><p class="hint">${form.values.events.length ? 'Only these.' : 'All, unless you choose some.'}</p>${events().map((each) => html`<label class="field check"><input type="checkbox" .checked=${form.values.events.includes(each)} @change=${() => form.set('events', form.values.events.includes(each) ? form.values.events.filter((one) => one !== each) : [...form.values.events, each])}><span>${EVENTS[each] || nothing} <code class="small quiet">${each}</code></span></label>`)}
      ${form.errors.events ? html`<p class="objection">${icon('circle-alert', 13)}<span>${words(form.errors.events)}</span></p>` : nothing}</fieldset>
      ${check(form, { name: 'is_thin', label: 'Leave the content of sources out', hint: 'Requests are smaller, and the content does not leave the server.' })}` })),
  }).then(() => issued && done(issued));
}

/** @param {any} issued @param {() => void} close */
export const secret = (issued, close) => html`<div class="stack">${issued.secret ? html`${notice('warning', html`<p>It is shown only now. Your program verifies signatures with it.</p>`)}<div class="secret">${copyable(issued.secret, 'the secret')}</div>` : notice('warning', html`<p>It was made by an earlier attempt, whose answer was lost. Rotate the secret to get another.</p>`)}
  <footer class="row end">${button({ label: 'Done', kind: 'primary' }, () => close())}</footer></div>`;
