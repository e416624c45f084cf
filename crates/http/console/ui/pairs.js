/** A table of questions and answers that can be written, or pasted from a spreadsheet. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { live } from '../vendor/lit-html/directives/live.js';
import { ApiError } from '../lib/api.js';
import { copied, decode, pairs as parsePairs } from '../lib/csv.js';
import { characters, number } from '../lib/format.js';
import { LIMITS } from '../lib/limits.js';
import { button, icon, textOf } from './parts.js';

/** @typedef {{question: string, answer: string}} Pair */

/** Whether something of a pair was written. @param {Pair} pair */
const isWritten = (pair) => Boolean(pair.question.trim() || pair.answer.trim());

/** The pairs of which something was written. @param {Pair[]} pairs */
const written = (pairs) => pairs.filter(isWritten);

/** Why a cell cannot be sent. @param {Pair} pair @param {keyof Pair} column */
function objection(pair, column) {
  if (isWritten(pair) && !pair[column].trim()) return `has no ${column}`;
  return column === 'question' && characters(pair.question) > LIMITS.question ? 'has a question that is too long' : '';
}

/** The pairs to send. Fails if one is not complete, with its number as it is shown: the API counts from 0. @param {Pair[]} pairs */
export function complete(pairs) {
  for (const [index, pair] of pairs.entries()) {
    const message = objection(pair, 'question') || objection(pair, 'answer');
    if (message) throw new ApiError(422, { param: 'pairs', message: `pair ${index + 1} ${message}` });
  }
  return written(pairs);
}

/** @param {import('../lib/form.js').Form} form The field `pairs` has the rows. */
export function pairsTable(form) {
  /** @type {Pair[]} */
  const rows = form.values.pairs;
  const put = (/** @type {number} */ index, /** @type {keyof Pair} */ column, /** @type {string} */ text) => form.set('pairs', rows.map((row, at) => (at === index ? { ...row, [column]: text } : row)));
  const paste = (/** @type {ClipboardEvent} */ event, /** @type {number} */ index) => {
    const found = copied(event.clipboardData?.getData('text/plain') || '');
    if (!found.length) return;
    event.preventDefault();
    form.set('pairs', [...rows.slice(0, index), ...found, ...written(rows.slice(index))]);
  };
  const read = async (event) => {
    const input = /** @type {HTMLInputElement} */ (event.target);
    const file = input.files?.[0];
    if (!file) return;
    const found = parsePairs(decode(await file.arrayBuffer()));
    form.set('pairs', [...written(form.values.pairs), ...found]);
    input.value = '';
  };
  const used = written(rows).length;
  const cell = (/** @type {Pair} */ row, /** @type {number} */ index, /** @type {keyof Pair} */ column) => {
    const isLong = column === 'question' && characters(row.question) > LIMITS.question;
    const isWrong = isLong || form.errors.pairs && objection(row, column);
    return html`<td><textarea rows="2" dir="auto" placeholder=${column === 'question' ? 'Question' : 'Answer'} aria-label="${column === 'question' ? 'Question' : 'Answer'} ${index + 1}" aria-invalid=${isWrong ? 'true' : nothing} .value=${live(row[column])}
      @input=${(event) => put(index, column, textOf(event))} @paste=${column === 'question' ? (/** @type {ClipboardEvent} */ event) => paste(event, index) : nothing}></textarea></td>`;
  };
  return html`<div class="stack tight">
    <div class="row apart"><p class="hint">Paste two columns from a spreadsheet into a question, or read a CSV file.</p><span class="limit ${used > LIMITS.pairs ? 'over' : ''}">${number(used)} / ${number(LIMITS.pairs)} pairs</span></div>
    <div class="scroll pairs"><table class="table"><thead><tr><th scope="col">Question <span class="quiet">at most ${number(LIMITS.question)} characters</span></th><th scope="col">Answer</th><th scope="col"><span class="unseen">Remove</span></th></tr></thead>
      <tbody>${rows.map((row, index) => html`<tr>${cell(row, index, 'question')}${cell(row, index, 'answer')}<td>${button({ label: `Remove pair ${index + 1}`, icon: 'x', kind: 'plain', small: true, hidden: true, disabled: rows.length === 1 }, () => form.set('pairs', rows.toSpliced(index, 1)))}</td></tr>`)}</tbody></table></div>
    <div class="row">${button({ label: 'Add a row', icon: 'plus', small: true }, () => form.set('pairs', [...rows, { question: '', answer: '' }]))}
      <label class="button small">${icon('file-up')}<span>Read a CSV file</span><input class="unseen" type="file" accept=".csv,.tsv,.txt,text/csv" @change=${read}></label></div></div>`;
}
