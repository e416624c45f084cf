/** Draws Markdown. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { blocks } from './markdown.js';

/** @typedef {import('./markdown.js').Inline} Inline @typedef {import('./markdown.js').Block} Block */

/** @param {string} text */
export const prose = (text) => html`<div class="prose">${blocks(text).map(block)}</div>`;

/** @param {Inline} part @returns {unknown} */
function inline(part) {
  switch (part.kind) {
    case 'text': return part.text;
    case 'code': return html`<code>${part.text}</code>`;
    case 'break': return html`<br>`;
    case 'strong': return html`<strong>${part.children.map(inline)}</strong>`;
    case 'emphasis': return html`<em>${part.children.map(inline)}</em>`;
    default: return html`<a href=${part.url} target="_blank" rel="noopener noreferrer nofollow">${part.children.map(inline)}</a>`;
  }
}

/** @param {Block} part @returns {unknown} */
function block(part) {
  const text = (part.inlines || []).map(inline);
  switch (part.kind) {
    case 'paragraph': return html`<p dir="auto">${text}</p>`;
    // Headings of a reply are no headings of the page.
    case 'heading': return html`<p dir="auto" class="heading-${Math.min(part.level || 1, 4)}"><strong>${text}</strong></p>`;
    case 'code': return html`<pre tabindex="0"><code>${part.text}</code></pre>`;
    case 'quote': return html`<blockquote dir="auto">${part.blocks?.map(block)}</blockquote>`;
    case 'rule': return html`<hr>`;
    case 'table': return html`<div class="scroll" tabindex="0"><table dir="auto"><thead><tr>${part.rows?.[0].map((cell) => html`<th>${cell.map(inline)}</th>`)}</tr></thead><tbody>${part.rows?.slice(1).map((row) => html`<tr>${row.map((cell) => html`<td>${cell.map(inline)}</td>`)}</tr>`)}</tbody></table></div>`;
    default: {
      const items = part.items?.map((item) => html`<li>${item.length === 1 && item[0].kind === 'paragraph' ? (item[0].inlines || []).map(inline) : item.map(block)}</li>`);
      return part.ordered ? html`<ol dir="auto" start=${part.first ?? nothing}>${items}</ol>` : html`<ul dir="auto">${items}</ul>`;
    }
  }
}
