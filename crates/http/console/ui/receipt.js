/** The receipt of a reply: what was searched for and found, what the model was sent, and how long it took. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { Loaded } from '../lib/load.js';
import { milliseconds, number } from '../lib/format.js';
import { to } from '../lib/router.js';
import { session } from '../lib/session.js';
import { open, redraw } from './layers.js';
import { icon, meter, problem, waiting } from './parts.js';
import { placeOf } from './passages.js';

/** @param {string} conversation @param {number} n @param {string} agent */
export function openReceipt(conversation, n, agent) {
  const stop = new AbortController();
  const receipt = new Loaded({ signal: stop.signal, update: redraw }, (signal) => session.api.get(`v1/conversations/${conversation}/messages/${n}/receipt`, {}, signal));
  open({
    title: 'Receipt',
    kind: 'panel',
    content: () => (receipt.value ? view(receipt.value, agent) : receipt.error ? problem(receipt.error, receipt.error.status === 404 ? undefined : () => receipt.reload()) : waiting(8)),
  }).then(() => stop.abort());
}

/** @param {any} receipt @param {string} agent */
function view(receipt, agent) {
  const { search, tokens = {} } = receipt;
  const total = receipt.stages.reduce((/** @type {number} */ sum, stage) => sum + stage.ms, 0);
  return html`<div class="stack wide">
    <dl class="facts">
      <div><dt>Model</dt><dd>${receipt.model || 'embedded answerer'}</dd></div>
      <div><dt>Confidence</dt><dd>${search.confidence.toFixed(2)} <span class="quiet">of at least ${search.floor.toFixed(2)}</span></dd></div>
      <div><dt>Earlier messages</dt><dd>${number(receipt.history_messages)}</dd></div>
      <div><dt>Tokens</dt><dd>${number(tokens.prompt)} + ${number(tokens.completion)}</dd></div>
      <div><dt>Search</dt><dd>${search.by_meaning ? 'by words and meaning' : 'by words'}</dd></div>
      <div><dt>Request</dt><dd><code>${receipt.request_id || '–'}</code></dd></div>
    </dl>
    ${search.terms?.length ? html`<section class="stack tight"><h3>Searched for</h3><ul class="chips">${search.terms.map((term) => html`<li dir="auto" class=${term.is_context ? 'quiet' : nothing} title="weight ${term.weight.toFixed(2)}${term.is_context ? ', from earlier messages' : ''}">${term.text}</li>`)}</ul></section>` : nothing}
    <section class="stack tight"><h3>Found ${receipt.hits.length ? nothing : '– nothing'}</h3>
      <ol class="hits">${receipt.hits.map((hit) => html`<li class=${hit.is_cited ? 'cited' : hit.is_relevant ? nothing : 'below'}>
        <div class="row apart"><a class="clip" href=${to(['agents', agent, 'sources', hit.source_id, 'documents', hit.document_id], { passage: hit.position })}><bdi>${hit.title || hit.document_id}</bdi></a><span class="number small">${hit.score.toFixed(2)}</span></div>
        <p class="row tight small">${hit.is_cited ? html`<span class="badge success">${icon('check', 12)}cited</span>` : nothing}${hit.is_sent ? html`<span class="badge quiet">sent to the model</span>` : nothing}${hit.is_relevant ? nothing : html`<span class="badge warning">below the floor</span>`}${hit.is_current ? nothing : html`<span class="badge quiet">changed since</span>`}<span class="quiet">${placeOf(hit)}</span></p>
        ${hit.text ? html`<p class="small lines" dir="auto">${hit.text}</p>` : nothing}</li>`)}</ol></section>
    <section class="stack tight"><h3>Time</h3><table class="table compact"><tbody>${receipt.stages.map((stage) => html`<tr><th scope="row">${stage.name}</th><td class="grow">${meter(stage.ms, total, `${stage.name}: ${milliseconds(stage.ms)}`)}</td><td class="number">${milliseconds(stage.ms)}</td></tr>`)}</tbody></table></section></div>`;
}
