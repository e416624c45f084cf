/** One webhook endpoint with its deliveries, live. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { at, count, milliseconds } from '../lib/format.js';
import { Form } from '../lib/form.js';
import { Loaded, Paged, every } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { can, isRestricted, session } from '../lib/session.js';
import { confirm, open, toast } from '../ui/layers.js';
import { badge, button, choice, copyable, empty, heading, icon, more, notice, problem, sentence, waiting, when, words } from '../ui/parts.js';
import { editEndpoint, receivesAll, secret } from './webhooks.js';

const LIVE_MS = 2000;

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function webhookView(context) {
  const { endpoint: id } = context.params;
  const path = `v1/webhook_endpoints/${encodeURIComponent(id)}`;
  let status = context.query.get('status');
  const endpoint = new Loaded(context, (signal) => session.api.get(path, {}, signal));
  let list = new Paged(context, `${path}/deliveries`, { status });
  every(context, LIVE_MS, async () => {
    if (list.items.some((each) => each.status === 'pending') && !list.isLoading) await list.reload();
  });
  const mayWrite = can('webhooks:write') && !isRestricted();
  const acting = new Form(context.update, {});
  const test = () => acting.submit(async (key) => {
    list.put(await session.api.json('POST', `${path}/test`, { key }));
    toast('A test event is on its way.');
  });
  const redeliver = (delivery) => acting.submit(async (key) => {
    list.put(await session.api.json('POST', `${path}/deliveries/${delivery.id}/redeliver`, { key }));
    toast('The event is sent again.');
  });
  const turn = (wanted) => acting.submit(async (key) => endpoint.set(await session.api.json('PATCH', path, { body: { status: wanted }, key })));
  const rotate = async () => {
    /** @type {any} */
    let issued = null;
    const isDone = await confirm({ title: 'Rotate the secret?', kind: 'primary', action: 'Rotate', text: 'Requests are signed with both secrets for 24 hours, so that your program can change over.', work: async (key) => {
      issued = await session.api.json('POST', `${path}/rotate_secret`, { key });
    } });
    if (isDone) open({ title: 'The new secret', content: (close) => secret(issued, close) });
  };
  const remove = async () => {
    const isGone = await confirm({ title: 'Delete this endpoint?', action: 'Delete endpoint', text: 'Its deliveries are deleted with it, including those that have not arrived yet.', work: (key) => session.api.remove(path, key) });
    if (isGone) go('#/webhooks');
  };
  return {
    title: 'Endpoint',
    changed: (query) => {
      status = query.get('status');
      list = new Paged(context, `${path}/deliveries`, { status });
    },
    render: () => {
      const { value } = endpoint;
      const above = html`<a href="#/webhooks">${icon('arrow-left', 13)}Webhooks</a>`;
      if (!value) return html`${heading('Endpoint', { above })}${endpoint.error ? problem(endpoint.error, () => endpoint.reload()) : waiting(6)}`;
      return html`<div class="stack wide">${heading(value.url, { above, about: html`<span class="row tight">${badge(value.status)}${receivesAll(value) ? html`<span>every event</span>` : nothing}${value.payload === 'thin' ? html`<span>· without content</span>` : nothing}${copyable(value.id, 'the id')}</span>`,
        actions: mayWrite ? html`${button({ label: 'Send a test', icon: 'zap', kind: 'primary', busy: acting.isBusy }, test)}${button({ label: 'Change', icon: 'pencil' }, () => editEndpoint(value, (read) => endpoint.set(read)))}` : nothing })}
        ${receivesAll(value) ? nothing : html`<ul class="chips small" aria-label="Events">${value.events.map((each) => html`<li><code>${each}</code></li>`)}</ul>`}
        ${value.description ? html`<p>${value.description}</p>` : nothing}
        ${value.disabled_reason ? notice('danger', html`<p>${words(sentence(value.disabled_reason))}</p>`, mayWrite ? button({ label: 'Enable', small: true }, () => turn('enabled')) : nothing) : nothing}
        ${problem(acting.error)}
        <div class="row apart"><h2>Deliveries</h2>${choice('State', [{ value: '', label: 'All' }, ...['pending', 'succeeded', 'failed'].map((each) => ({ value: each, label: each }))], status || '', (chosen) => go(to(['webhooks', id], { status: chosen })))}</div>
        ${!list.isLoaded && !list.error ? waiting() : nothing}
        ${list.isLoaded && !list.items.length ? empty('send-horizontal', 'No deliveries', status ? 'No delivery is in this state.' : 'Those of the last seven days are shown here. Send a test to see the first.') : nothing}
        ${list.items.length ? html`<ul class="entries">${repeat(list.items, (each) => each.id, (each) => html`<li><div class="row apart"><span class="row tight">${badge(each.status)}<b>${each.event}</b><span class="quiet small">${when(each.created_at)}</span></span>
          ${mayWrite && each.status !== 'pending' ? button({ label: 'Send again', icon: 'rotate-ccw', small: true }, () => redeliver(each)) : nothing}</div>
          ${each.next_attempt_at ? html`<p class="small quiet">Next attempt ${when(each.next_attempt_at)}</p>` : nothing}
          ${each.attempts.length ? html`<details><summary class="small">${icon('chevron-right', 13)}${count(each.attempts.length, 'attempt')}${last(each.attempts)}</summary><table class="table compact small"><thead><tr><th scope="col">At</th><th scope="col">Answer</th><th scope="col" class="number">Time</th><th scope="col">Problem</th></tr></thead><tbody>${each.attempts.map((attempt) => html`<tr><td class="nowrap">${at(attempt.at)}</td><td>${attempt.http_status ?? 'none'}</td><td class="number">${milliseconds(attempt.duration_ms)}</td><td>${words(attempt.error || '–')}</td></tr>`)}</tbody></table></details>` : nothing}
          <p class="small quiet mono">${each.event_id}</p></li>`)}</ul>` : nothing}${more(list)}
        ${mayWrite ? html`<section class="card stack danger-zone"><h2>Secret, state, deletion</h2>
          <div class="row apart"><p>Rotate the secret if somebody else may know it.</p>${button({ label: 'Rotate secret', icon: 'refresh-cw' }, rotate)}</div>
          <div class="row apart"><p>${value.status === 'enabled' ? 'A disabled endpoint receives nothing. Its events wait.' : 'It receives nothing. Its events wait until it is enabled.'}</p>${value.status === 'enabled' ? button({ label: 'Disable', icon: 'pause' }, () => turn('disabled')) : button({ label: 'Enable', icon: 'play' }, () => turn('enabled'))}</div>
          <div class="row apart"><p>Deleting it deletes its deliveries.</p>${button({ label: 'Delete endpoint', icon: 'trash-2', kind: 'danger' }, remove)}</div></section>` : nothing}</div>`;
    },
  };
}

/** What came of the latest attempt. @param {any[]} attempts */
function last(attempts) {
  const { http_status: status, error } = attempts[attempts.length - 1];
  return html` <span class="quiet clip">· ${words(error || `answered ${status}`)}</span>`;
}
