/** A cited passage in its document, with the sentences of the reply marked. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { Loaded } from '../lib/load.js';
import { mark } from '../lib/marking.js';
import { to } from '../lib/router.js';
import { can, session } from '../lib/session.js';
import { open, redraw } from './layers.js';
import { icon, notice, sentence, waiting, words } from './parts.js';

/** Pages of a list of passages that are read at most to find one. */
const MOST_PAGES = 20;
/** Passages shown before and after the cited one. */
const AROUND = 1;

/**
 * The passages of a document, up to some after a position.
 * @param {string} source @param {string} document @param {number} position @param {AbortSignal} signal
 */
export async function passagesUntil(source, document, position, signal) {
  /** @type {any[]} */
  const found = [];
  let cursor;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const part = await session.api.get(`v1/sources/${encodeURIComponent(source)}/passages`, { document_id: document, page_size: 100, cursor }, signal);
    found.push(...part.data);
    if (!part.has_more || found.some((each) => each.position > position + AROUND)) break;
    cursor = part.next_cursor;
  }
  return found;
}

/** @param {string} text @param {string} reply */
export const marked = (text, reply) => (reply ? mark(text, reply).map((piece) => (piece.isMarked ? html`<mark>${piece.text}</mark>` : piece.text)) : text);

/** Where a passage stands. @param {{heading?: string | null, page?: number | null}} passage */
export const placeOf = (passage) => [passage.heading, passage.page && `page ${passage.page}`].filter(Boolean).join(' · ');

/**
 * Opens a citation at the side.
 * @param {{agent: string, citation: any, reply: string, message?: string, chosen?: number}} options `message` is `conv_….4`, for the address of the document.
 */
export function openCitation({ agent, citation, reply, message, chosen = 0 }) {
  const stop = new AbortController();
  const owner = { signal: stop.signal, update: redraw };
  const passages = citation.passages;
  let current = passages[chosen];
  const load = () => (current && can('sources:read') ? new Loaded(owner, (signal) => passagesUntil(citation.id, current.document_id, current.position, signal)) : null);
  let around = load();
  const address = () => to(['agents', agent, 'sources', citation.id, 'documents', current?.document_id || citation.document_id || ''], { passage: current?.position, reply: message });
  open({
    title: () => html`<span class="quiet small">Source</span> <bdi>${citation.title}</bdi>`,
    kind: 'panel',
    content: () => html`<div class="stack">
      ${passages.length > 1 ? html`<nav class="pager" aria-label="Passages">${passages.map((each, /** @type {number} */ index) => html`<button type="button" aria-pressed=${each === current ? 'true' : 'false'} @click=${() => {
        current = each;
        around = load();
        redraw();
      }}>${placeOf(each) || `Passage ${index + 1}`}</button>`)}</nav>` : nothing}
      ${current ? passageInPlace(around, current, reply) : notice('info', html`<p>This reply was stored by an earlier version of the server, which kept no passages.</p>`)}
      <div class="row">${citation.url ? html`<a class="button small" href=${/^https?:/i.test(citation.url) ? citation.url : nothing} target="_blank" rel="noopener noreferrer nofollow">${icon('external-link')}<span>Open the page</span></a>` : nothing}
      ${can('sources:read') && (current || citation.document_id) ? html`<a class="button small" href=${address()}>${icon('book-open')}<span>Open the document</span></a>` : nothing}</div></div>`,
  }).then(() => stop.abort());
}

/** @param {Loaded<any[]> | null} around @param {any} cited @param {string} reply */
function passageInPlace(around, cited, reply) {
  const place = placeOf(cited);
  const head = place ? html`<p class="small quiet">${place}</p>` : nothing;
  const asItWas = html`${head}<blockquote class="passage cited" dir="auto">${marked(cited.text, reply)}</blockquote>`;
  if (!around) return asItWas;
  if (!around.value) return around.error ? html`${notice('warning', html`<p>${around.error.status === 404 ? 'The source has since been deleted. This is what the reply was based on:' : words(sentence(around.error.message))}</p>`)}${asItWas}` : waiting(5);
  const index = around.value.findIndex((each) => each.position === cited.position && each.document_id === cited.document_id);
  if (index < 0) return html`${notice('warning', html`<p>The document has changed since. This is what the reply was based on:</p>`)}${asItWas}`;
  const isChanged = !around.value[index].text.startsWith(cited.text.replace(/…$/, '').slice(0, 200));
  return html`${isChanged ? notice('warning', html`<p>The document has changed since. This is what the reply was based on:</p>`) : nothing}
    ${isChanged ? asItWas : html`${head}${around.value.slice(Math.max(0, index - AROUND), index + AROUND + 1).map((each) => html`<div dir="auto" class="passage ${each.position === cited.position ? 'cited' : 'near'}">${each.position === cited.position ? marked(each.text, reply) : each.text}</div>`)}`}`;
}

