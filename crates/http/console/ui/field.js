/** Fields of forms: each with its label, its limit, what it is for, and the server's objection. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { live } from '../vendor/lit-html/directives/live.js';
import { characters, number } from '../lib/format.js';
import { icon, textOf, words } from './parts.js';

/** @typedef {import('../lib/form.js').Form} Form */

/**
 * @typedef {object} FieldOptions
 * @property {string} name
 * @property {unknown} label
 * @property {unknown} [hint]
 * @property {number} [most] The most characters.
 * @property {string} [limit] A limit in words.
 * @property {string} [type]
 * @property {string} [inputmode] The keyboard of a phone, if the type does not say it.
 * @property {number} [rows] Of a text of several lines.
 * @property {boolean} [required]
 * @property {boolean} [autofocus]
 * @property {string} [placeholder]
 * @property {string} [autocomplete]
 * @property {number} [min]
 * @property {number} [max]
 * @property {number | string} [step]
 * @property {boolean} [mono]
 * @property {boolean} [spellcheck]
 */

let count = 0;
/** Ids of fields, one for each form and name. @type {WeakMap<Form, string>} */
const prefixes = new WeakMap();

/** @param {Form} form @param {string} name */
function idOf(form, name) {
  if (!prefixes.has(form)) prefixes.set(form, `form-${++count}`);
  return `${prefixes.get(form)}-${name}`;
}

/** @param {Form} form @param {FieldOptions} options */
export function field(form, options) {
  const id = idOf(form, options.name);
  const value = form.values[options.name] ?? '';
  const error = form.errors[options.name];
  const length = options.most ? characters(String(value)) : 0;
  const isOver = Boolean(options.most && length > options.most);
  const described = [options.hint && `${id}-hint`, (options.most || options.limit) && `${id}-limit`, error && `${id}-error`].filter(Boolean).join(' ');
  const input = (event) => form.set(options.name, textOf(event));
  const invalid = error || isOver ? 'true' : nothing;
  return html`<div class="field">
    <div class="row apart"><label for=${id}>${options.label}</label>${options.most
      ? html`<span class="limit ${isOver ? 'over' : ''}" id="${id}-limit">${number(length)} / ${number(options.most)}</span>`
      : options.limit ? html`<span class="limit" id="${id}-limit">${options.limit}</span>` : nothing}</div>
    ${options.rows
      ? html`<textarea id=${id} dir="auto" name=${options.name} rows=${options.rows} class=${options.mono ? 'mono' : nothing} placeholder=${options.placeholder || nothing} ?required=${options.required} ?autofocus=${options.autofocus}
          aria-invalid=${invalid} aria-describedby=${described || nothing} .value=${live(String(value))} @input=${input}></textarea>`
      : html`<input id=${id} dir="auto" name=${options.name} type=${options.type || 'text'} inputmode=${options.inputmode || nothing} class=${options.mono ? 'mono' : nothing} placeholder=${options.placeholder || nothing} ?required=${options.required} ?autofocus=${options.autofocus}
          min=${options.min ?? nothing} max=${options.max ?? nothing} step=${options.step ?? nothing} autocomplete=${options.autocomplete || 'off'} spellcheck=${options.spellcheck === false ? 'false' : nothing}
          aria-invalid=${invalid} aria-describedby=${described || nothing} .value=${live(String(value))} @input=${input}>`}
    ${options.hint ? html`<p class="hint" id="${id}-hint">${options.hint}</p>` : nothing}${objection(id, error)}</div>`;
}

/** @param {string} id @param {string | undefined} error */
const objection = (id, error) => (error ? html`<p class="objection" id="${id}-error">${icon('circle-alert', 13)}<span>${words(error)}</span></p>` : nothing);

/** @param {Form} form @param {{name: string, label: unknown, hint?: unknown, choices: {value: string, label: string}[]}} options */
export function select(form, options) {
  const id = idOf(form, options.name);
  const error = form.errors[options.name];
  return html`<div class="field"><label for=${id}>${options.label}</label>
    <select id=${id} name=${options.name} aria-describedby=${options.hint ? `${id}-hint` : nothing} aria-invalid=${error ? 'true' : nothing}
      @change=${(event) => form.set(options.name, textOf(event))}>
      ${options.choices.map((each) => html`<option value=${each.value} .selected=${live(each.value === String(form.values[options.name] ?? ''))}>${each.label}</option>`)}</select>
    ${options.hint ? html`<p class="hint" id="${id}-hint">${options.hint}</p>` : nothing}${objection(id, error)}</div>`;
}

/** @param {Form} form @param {{name: string, label: unknown, hint?: unknown, disabled?: boolean}} options */
export function check(form, options) {
  const id = idOf(form, options.name);
  return html`<div class="field check"><input type="checkbox" id=${id} name=${options.name} .checked=${live(Boolean(form.values[options.name]))} ?disabled=${options.disabled} aria-describedby=${options.hint ? `${id}-hint` : nothing}
    @change=${(event) => form.set(options.name, /** @type {HTMLInputElement} */ (event.target).checked)}>
    <div><label for=${id}>${options.label}</label>${options.hint ? html`<p class="hint" id="${id}-hint">${options.hint}</p>` : nothing}${objection(id, form.errors[options.name])}</div></div>`;
}

/**
 * A choice of one, with a sentence for each.
 * @param {Form} form
 * @param {{name: string, label: unknown, choices: {value: string, label: string, about?: string}[]}} options
 */
export function radios(form, options) {
  const id = idOf(form, options.name);
  return html`<fieldset class="field radios"><legend>${options.label}</legend><div class="cards">${options.choices.map((each) => html`<label><input type="radio" name=${id} value=${each.value} .checked=${live(form.values[options.name] === each.value)}
    @change=${() => form.set(options.name, each.value)}><span><b>${each.label}</b>${each.about ? html`<span class="hint">${each.about}</span>` : nothing}</span></label>`)}</div>${objection(id, form.errors[options.name])}</fieldset>`;
}

/** Shows why a form was refused: its first field that is wrong, or else the words of the server. @param {Element} form */
export function showRefusal(form) {
  requestAnimationFrame(() => {
    const field = /** @type {HTMLElement | null} */ (form.querySelector('[aria-invalid="true"]'));
    field?.closest('details')?.setAttribute('open', '');
    (field || form.querySelector('[role="alert"]'))?.scrollIntoView({ block: 'center' });
    field?.focus({ preventScroll: true });
  });
}

/** Sends a form with the keyboard's shortcut in a text of several lines. @param {KeyboardEvent} event */
export function sendOnShortcut(event) {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    /** @type {HTMLElement} */ (event.target).closest('form')?.requestSubmit();
  }
}
