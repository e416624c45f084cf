/** How an agent does: its statistics by day, and what needs attention. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { dayOf, isoDay, milliseconds, number, percent } from '../lib/format.js';
import { Loaded } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { can, session } from '../lib/session.js';
import { badge, choice, copyable, empty, heading, linkButton, notice, problem, waiting } from '../ui/parts.js';
import { byDay, plot } from '../ui/plot.js';

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function overview(context) {
  const { agent: id } = context.params;
  const path = `v1/agents/${encodeURIComponent(id)}`;
  const agent = new Loaded(context, (signal) => session.api.get(path, {}, signal));
  const read = () => new Loaded(context, (signal) => session.api.all(`${path}/statistics`, { from: isoDay(days - 1) }, { signal }));
  let days = Number(context.query.get('days')) || 30;
  let statistics = read();
  const sources = can('sources:read') ? new Loaded(context, async (signal) => {
    const [any, failed] = await Promise.all([{ page_size: 1 }, { page_size: 100, status: 'failed' }].map((query) => session.api.get(`${path}/sources`, query, signal)));
    return { hasAny: any.data.length > 0, failed: failed.data.length };
  }) : null;
  return {
    title: () => agent.value?.name || 'Agent',
    changed: (query) => {
      days = Number(query.get('days')) || 30;
      statistics = read();
    },
    render: () => {
      const { value } = agent;
      if (!value) return html`${heading('Agent')}${agent.error ? problem(agent.error, () => agent.reload()) : waiting(6)}`;
      return html`<div class="stack wide">${heading(value.name, {
        about: html`<span class="row tight">${badge(value.status)}<span>${value.model}</span>${copyable(value.id, 'the id')}</span>`,
        actions: html`${can('conversations:write') ? linkButton(to(['agents', id, 'playground']), { label: 'Ask', icon: 'message-circle', kind: 'primary' }) : nothing}` })}
        ${sources?.value && !sources.value.hasAny ? notice('info', html`<p>This agent has no sources yet, so it answers nothing.</p>`, can('sources:write') ? linkButton(to(['agents', id, 'sources'], { add: 'file' }), { label: 'Add content', icon: 'plus', small: true }) : nothing) : nothing}
        ${sources?.value?.failed ? notice('danger', html`<p>${sources.value.failed === 1 ? 'A source has' : `${number(sources.value.failed)} sources have`} failed.</p>`, linkButton(to(['agents', id, 'sources'], { status: 'failed' }), { label: 'Show', small: true })) : nothing}
        <div>${choice('Time', [7, 30, 90].map((each) => ({ value: String(each), label: `${each} days` })), String(days), (chosen) => go(to(['agents', id], { days: chosen === '30' ? null : chosen })))}</div>
        ${statistics.value ? figures(statistics.value, days, id) : statistics.error ? problem(statistics.error, () => statistics.reload()) : waiting(6)}</div>`;
    },
  };
}

/** @param {any[]} rows @param {number} days @param {string} id */
function figures(rows, days, id) {
  const sum = (name) => rows.reduce((all, row) => all + row[name], 0);
  const [messages, answered, unanswered, up, down] = ['messages', 'answered', 'unanswered', 'rated_up', 'rated_down'].map(sum);
  if (!messages && !sum('conversations')) return empty('activity', 'Nobody has asked anything yet', 'As soon as somebody does, you see here how many questions were answered, how replies were rated and how long they took.', can('conversations:write') ? linkButton(to(['agents', id, 'playground']), { label: 'Ask the first question', icon: 'message-circle' }) : nothing);
  const medians = rows.filter((row) => row.latency).map((row) => row.latency.p50_ms).sort((one, other) => one - other);
  const found = new Map(rows.map((row) => [row.day, row]));
  const link = (/** @type {Record<string, string>} */ query, /** @type {unknown} */ text) => (can('conversations:read') ? html`<a href=${to(['agents', id, 'conversations'], query)}>${text}</a>` : text);
  return html`<dl class="numbers">
      <div><dt>Questions</dt><dd>${number(messages)}</dd></div>
      <div><dt>Answered from sources</dt><dd>${percent(answered, answered + unanswered)} <small>${link({ unanswered: 'true' }, `${number(unanswered)} not`)}</small></dd></div>
      <div><dt>Rated good</dt><dd>${percent(up, up + down)} <small>${number(up)} good, ${link({ rating: 'down' }, `${number(down)} bad`)}</small></dd></div>
      <div><dt>Median time of a reply</dt><dd>${medians.length ? milliseconds(medians[medians.length >> 1]) : '–'}</dd></div>
    </dl>
    <section class="card stack"><h2>Questions by day</h2>${plot('Questions by day, answered and not answered', byDay(days, (day) => [found.get(day)?.answered || 0, found.get(day)?.unanswered || 0]), ['answered', 'not answered'])}
    <div class="scroll beside-plot" tabindex="0" role="region" aria-label="Statistics by day"><table class="table compact"><thead><tr><th scope="col">Day</th><th scope="col" class="number">Conversations</th><th scope="col" class="number">Questions</th><th scope="col" class="number">Answered</th><th scope="col" class="number">Not answered</th><th scope="col" class="number">Good</th><th scope="col" class="number">Bad</th><th scope="col" class="number">Median</th><th scope="col" class="number">95 %</th></tr></thead>
      <tbody>${rows.map((row) => html`<tr><th scope="row" class="nowrap">${dayOf(row.day)}</th>${['conversations', 'messages', 'answered', 'unanswered', 'rated_up', 'rated_down'].map((name) => html`<td class="number">${number(row[name])}</td>`)}<td class="number">${row.latency ? milliseconds(row.latency.p50_ms) : '–'}</td><td class="number">${row.latency ? milliseconds(row.latency.p95_ms) : '–'}</td></tr>`)}</tbody></table></div></section>`;
}
