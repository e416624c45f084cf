/** Whether the server is well, what it can do, and what this key may. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { at, bytes, milliseconds } from '../lib/format.js';
import { Loaded, every } from '../lib/load.js';
import { session } from '../lib/session.js';
import { badge, copyable, heading, problem } from '../ui/parts.js';

const LIVE_MS = 10_000;

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function healthView(context) {
  const probe = (path) => new Loaded(context, async (signal) => {
    const began = performance.now();
    const { status } = await session.api.get(path, {}, signal);
    return { status, took: performance.now() - began };
  });
  const probes = [['Running', 'It answers requests.', probe('healthz')], ['Ready', 'The database answers, and the workers run.', probe('readyz')]];
  every(context, LIVE_MS, () => Promise.all(probes.map(([, , each]) => /** @type {Loaded<any>} */ (each).reload())));
  return {
    title: 'Health',
    render: () => {
      const { capabilities, api_key: key, account } = session.me;
      return html`<div class="stack wide">${heading('Health', { about: 'Of the server, and what it and your key can do.' })}
        <dl class="numbers">${probes.map(([name, about, each]) => {
          const { value, error } = /** @type {Loaded<any>} */ (each);
          return html`<div><dt>${name}</dt><dd>${error ? badge('failed', 'no') : value ? badge('ok', 'yes') : badge('running', '…')} <small>${value ? milliseconds(value.took) : nothing}</small></dd><dd class="about"><small>${about}</small></dd></div>`;
        })}</dl>
        ${probes.map(([, , each]) => problem(/** @type {Loaded<any>} */ (each).error))}
        <section class="card stack"><h2>This server</h2><dl class="facts">
          <div><dt>Replies are written by</dt><dd>${capabilities.has_upstream ? 'a model upstream' : 'the embedded answerer'}</dd></div><div><dt>Models</dt><dd>${capabilities.models.join(', ')}</dd></div>
          <div><dt>Largest file</dt><dd>${bytes(capabilities.max_upload_bytes)}</dd></div><div><dt>Public address</dt><dd>${capabilities.public_url || 'none: nothing is public'}</dd></div></dl></section>
        <section class="card stack"><h2>This key</h2><dl class="facts">
          <div><dt>Name</dt><dd>${key.name}</dd></div><div><dt>Id</dt><dd>${copyable(key.id, 'the id')}</dd></div><div><dt>Account</dt><dd>${account.name}</dd></div>
          <div><dt>Expires</dt><dd>${key.expires_at ? at(key.expires_at) : 'never'}</dd></div><div><dt>Agents</dt><dd>${key.agent_ids ? key.agent_ids.join(', ') : 'all'}</dd></div>
          <div><dt>May</dt><dd><ul class="chips">${key.permissions.map((each) => html`<li>${each === '*' ? 'everything' : each}</li>`)}</ul></dd></div></dl></section></div>`;
    },
  };
}
