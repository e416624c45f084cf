/** What the account has used: against its quotas, and by day. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { live } from '../vendor/lit-html/directives/live.js';
import { allAgents } from '../lib/agents.js';
import { at, bytes, compact, dayOf, isoDay, number } from '../lib/format.js';
import { Loaded } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { refreshMe, session } from '../lib/session.js';
import { choice, empty, heading, meter, problem, textOf, waiting } from '../ui/parts.js';
import { byDay, plot } from '../ui/plot.js';

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function usageView(context) {
  let query = context.query;
  const days = () => Number(query.get('days')) || 30;
  const read = () => new Loaded(context, (signal) => session.api.all('v1/usage', { from: isoDay(days() - 1), agent_id: query.get('agent') }, { most: 5000, signal }));
  let usage = read();
  const agents = new Loaded(context, allAgents);
  refreshMe().then(context.update, () => {});
  const turn = (/** @type {Record<string, string>} */ change) => go(to(['usage'], { days: query.get('days'), agent: query.get('agent'), ...change }));
  return {
    title: 'Usage',
    changed: (next) => {
      query = next;
      usage = read();
    },
    render: () => {
      const { quotas } = session.me;
      const names = new Map((agents.value || []).map((each) => [each.id, each.name]));
      return html`<div class="stack wide">${heading('Usage', { about: `This month ends ${at(quotas.renewed_at)}.` })}
        <dl class="numbers">${quota('Messages this month', quotas.messages, number)}${quota('Tokens this month', quotas.tokens, compact)}${quota('Stored', quotas.bytes, bytes)}</dl>
        <div class="row apart">${choice('Time', [7, 30, 90].map((each) => ({ value: String(each), label: `${each} days` })), String(days()), (chosen) => turn({ days: chosen }))}
        ${names.size ? html`<label class="row tight"><span class="unseen">Agent</span><select @change=${(event) => turn({ agent: textOf(event) })}><option value="">All agents</option>${[...names].map(([id, name]) => html`<option value=${id} .selected=${live(query.get('agent') === id)}>${name}</option>`)}</select></label>` : nothing}</div>
        ${usage.value ? figures(usage.value, days(), names) : usage.error ? problem(usage.error, () => usage.reload()) : waiting(6)}</div>`;
    },
  };
}

/** @param {string} label @param {{limit: number | null, used: number | null}} quota @param {(value: any) => string} format */
const quota = (label, { limit, used }, format) => html`<div><dt>${label}</dt><dd>${used === null ? html`<small>not shown to a restricted key</small>` : format(used)} ${limit === null ? html`<small>no limit</small>` : html`<small>of ${format(limit)}</small>`}</dd>${limit !== null && used !== null ? meter(used, limit, label) : nothing}</div>`;

/** @param {any[]} rows @param {number} days @param {Map<string, string>} names */
function figures(rows, days, names) {
  if (!rows.length) return empty('chart-no-axes-column', 'No usage in this period', 'Messages and tokens appear here on the day on which they were used.');
  /** @type {Map<string, [number, number]>} */
  const totals = new Map();
  for (const row of rows) {
    const [messages, tokens] = totals.get(row.day) || [0, 0];
    totals.set(row.day, [messages + row.messages, tokens + row.prompt_tokens + row.completion_tokens]);
  }
  const hasTokens = rows.some((row) => row.prompt_tokens + row.completion_tokens > 0);
  return html`<div class="columns"><section class="card stack"><h2>Messages by day</h2>${plot('Messages by day', byDay(days, (day) => [totals.get(day)?.[0] || 0]), ['messages'])}</section>
    ${hasTokens ? html`<section class="card stack"><h2>Tokens by day</h2>${plot('Tokens by day', byDay(days, (day) => [totals.get(day)?.[1] || 0]), ['tokens'])}</section>` : nothing}</div>
    <section class="card stack"><h2>By day and agent</h2><div class="scroll beside-plot" tabindex="0" role="region" aria-label="Usage by day and agent"><table class="table compact"><thead><tr><th scope="col">Day</th><th scope="col">Agent</th><th scope="col" class="number">Messages</th><th scope="col" class="number">Prompt tokens</th><th scope="col" class="number">Completion tokens</th></tr></thead>
    <tbody>${rows.slice(0, 500).map((row) => html`<tr><th scope="row" class="nowrap">${dayOf(row.day)}</th><td class="name">${names.get(row.agent_id) || html`<code>${row.agent_id}</code>`}</td><td class="number">${number(row.messages)}</td><td class="number">${number(row.prompt_tokens)}</td><td class="number">${number(row.completion_tokens)}</td></tr>`)}</tbody></table></div></section>`;
}
