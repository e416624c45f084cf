/** The widgets of an agent: public ways to it, each with a token of its own. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { count } from '../lib/format.js';
import { Form } from '../lib/form.js';
import { LIMITS } from '../lib/limits.js';
import { Loaded } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { can, session } from '../lib/session.js';
import { field } from '../ui/field.js';
import { dialogForm, open, redraw } from '../ui/layers.js';
import { badge, button, copyable, empty, heading, notice, problem, waiting } from '../ui/parts.js';

/** One thing in each line of a text. @param {string} text */
export const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean);

/** The field for the sites that may embed a widget. @param {Form} form */
export const originsField = (form) => field(form, { name: 'origins', label: 'Sites that may embed it', rows: 3, mono: true, spellcheck: false, limit: `at most ${LIMITS.origins}`, placeholder: 'https://museum.example\nhttps://*.museum.example', hint: 'One in each line. Other sites are refused. Without any, only the hosted page is available.' });

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function widgetsView(context) {
  const { agent } = context.params;
  const path = `v1/agents/${encodeURIComponent(agent)}/widgets`;
  const list = new Loaded(context, (signal) => session.api.all(path, {}, { signal }));
  const action = () => button({ label: 'New widget', icon: 'plus', kind: 'primary' }, create);
  const create = () => {
    const form = new Form(redraw, { name: '', origins: '' }, `widget of ${agent}`);
    open({
      title: 'New widget',
      content: (close) => dialogForm(form, {
        fields: html`${field(form, { name: 'name', label: 'Name', most: LIMITS.name, required: true, autofocus: true, hint: 'Only you see it.' })}${originsField(form)}`,
        action: 'Create', close, send: (key) => session.api.json('POST', path, { body: { name: form.values.name, origins: lines(form.values.origins) }, key }),
        done: async (widget) => {
          close();
          await showSecret(widget.identity_secret);
          go(to(['agents', agent, 'widgets', widget.id]));
        },
      }),
    });
  };
  return {
    title: 'Widgets',
    render: () => {
      const mayWrite = can('agents:write');
      return html`${heading('Widgets', { about: 'Chats for your visitors: on your own site, or on a page of this server.', actions: mayWrite && list.value?.length ? action() : nothing })}
        ${problem(list.error, () => list.reload())}${!list.value && !list.error ? waiting() : nothing}
        ${list.value && !list.value.length ? empty('message-circle', 'No widgets yet', mayWrite ? 'A widget is one line of HTML for your site, and a page whose address you can share.' : 'Your key may not create any.', mayWrite ? action() : nothing) : nothing}
        ${list.value?.length ? html`<ul class="entries">${repeat(list.value, (each) => each.id, (each) => html`<li><div class="row apart"><a class="clip" href=${to(['agents', agent, 'widgets', each.id])}>${each.name}</a>${each.is_active ? badge('active') : badge('paused', 'turned off')}</div>
          <p class="small quiet">${each.origins.length ? each.origins.length > 3 ? count(each.origins.length, 'site') : each.origins.join(', ') : each.hosted_page ? 'the hosted page only' : 'nowhere'} · ${each.identity === 'none' ? 'anonymous visitors' : each.identity === 'required' ? 'signed-in visitors' : 'anonymous and signed-in visitors'}</p></li>`)}</ul>` : nothing}`;
    },
  };
}

/** Shows an identity secret, once. @param {string | null} secret */
export const showSecret = (secret) => open({
  title: 'The identity secret',
  content: (close) => html`<div class="stack">${secret ? html`${notice('warning', html`<p>It is shown only now. Your server signs the identities of visitors with it; anonymous visitors do not need it.</p>`)}<div class="secret">${copyable(secret, 'the secret')}</div>` : notice('warning', html`<p>It was made by an earlier attempt, whose answer was lost. Rotate the secret to get another.</p>`)}
    <footer class="row end">${button({ label: 'Done', kind: 'primary' }, () => close())}</footer></div>`,
});
