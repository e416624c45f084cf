/** Who has done what in the account. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { live } from '../vendor/lit-html/directives/live.js';
import { at, beginOf, number } from '../lib/format.js';
import { Paged } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { takes } from '../lib/session.js';
import { empty, heading, icon, linkButton, more, textOf, waiting } from '../ui/parts.js';

const NAMES = ['action', 'after', 'before'];
const ACTORS = /** @type {Record<string, string>} */ ({ command_line: 'the command line', unknown: 'somebody without a valid key' });

/** The actions that the API can filter by. @returns {string[]} */
const actions = () => takes('/v1/audit_log', 'action')?.enum || [];

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function auditView(context) {
  let query = context.query;
  const read = () => new Paged(context, 'v1/audit_log', {
    action: query.get('action'), created_after: beginOf(query.get('after')), created_before: beginOf(query.get('before')),
  });
  let list = read();
  const chosen = (name) => (event) => go(to(['audit'], { ...Object.fromEntries(NAMES.map((each) => [each, query.get(each)])), [name]: textOf(event) }));
  return {
    title: 'Audit log',
    changed: (next) => {
      query = next;
      list = read();
    },
    render: () => html`<div class="stack wide">${heading('Audit log', { about: 'Who has changed keys and webhooks, deleted something, or was refused.' })}
      <div class="filters"><label>Action<select @change=${chosen('action')}><option value="">Any</option>${actions().map((each) => html`<option value=${each} .selected=${live(query.get('action') === each)}>${each}</option>`)}</select></label>
        <label>From<input type="date" .value=${query.get('after') || ''} @change=${chosen('after')}></label><label>Before<input type="date" .value=${query.get('before') || ''} @change=${chosen('before')}></label>
        ${NAMES.some((each) => query.get(each)) ? linkButton('#/audit', { label: 'Clear', icon: 'x', kind: 'plain' }) : nothing}</div>
      ${!list.isLoaded && !list.error ? waiting() : nothing}
      ${list.isLoaded && !list.items.length ? empty('scroll-text', 'Nothing is recorded', NAMES.some((each) => query.get(each)) ? 'No record meets these conditions.' : 'Changes of keys and webhooks, deletions and refused keys appear here.') : nothing}
      ${list.items.length ? html`<div class="scroll" tabindex="0" role="region" aria-label="Records"><table class="table"><thead><tr><th scope="col">Action</th><th scope="col">By</th><th scope="col">Of</th><th scope="col" class="rest">From</th><th scope="col">At</th></tr></thead><tbody>
        ${list.items.map((each) => html`<tr><td class="nowrap">${each.action.endsWith('.deleted') || each.action.includes('failed') ? html`<span class="quiet">${icon(each.action.includes('failed') ? 'triangle-alert' : 'trash-2', 13)}</span> ` : nothing}${each.action}${each.count > 1 ? html` <span class="badge">${number(each.count)} times</span>` : nothing}</td>
          <td>${each.actor.name || ACTORS[each.actor.type] || each.actor.type}${each.actor.id ? html`<p class="small quiet mono">${each.actor.id}</p>` : nothing}</td><td class="mono small">${each.target_id || '–'}</td><td class="rest mono small quiet">${each.ip_address || '–'}</td><td class="quiet nowrap">${at(each.created_at)}</td></tr>`)}</tbody></table></div>` : nothing}${more(list)}</div>`,
  };
}
