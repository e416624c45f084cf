/** Small parts that all views are made of. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { ApiError } from '../lib/api.js';
import { ago, at, duration } from '../lib/format.js';
import { toast } from './layers.js';

/** The folder of the console's files, with their version. */
const BASE = new URL('..', import.meta.url).pathname;

/** An icon that says nothing to a screen reader. @param {string} name @param {number} [size] */
export const icon = (name, size = 16) => html`<svg class="icon" width=${size} height=${size} aria-hidden="true" focusable="false"><use href="${BASE}icons.svg#${name}"></use></svg>`;

/**
 * A button. If it is busy or disabled, it keeps the focus and does nothing.
 * @param {{label: unknown, icon?: string, kind?: '' | 'primary' | 'danger' | 'plain' | 'link', busy?: boolean, disabled?: boolean, title?: string,
 *   type?: 'button' | 'submit', small?: boolean, hidden?: boolean, name?: string, pressed?: boolean, expanded?: boolean}} options `hidden` hides the label from sight.
 * @param {(event: Event) => unknown} [act]
 */
export const button = (options, act) => html`<button type=${options.type || 'button'} name=${options.name || nothing}
  class="button ${options.kind || ''} ${options.small ? 'small' : ''} ${options.hidden ? 'square' : ''}" aria-disabled=${options.disabled || options.busy ? 'true' : nothing}
  aria-busy=${options.busy ? 'true' : nothing} title=${options.title || (options.hidden ? options.label : nothing)} aria-pressed=${options.pressed ?? nothing}
  aria-expanded=${options.expanded ?? nothing} @click=${options.disabled || options.busy ? ignore : act || nothing}>${options.busy ? html`<span class="spinner" aria-hidden="true"></span>` : options.icon ? icon(options.icon) : nothing}<span class=${options.hidden ? 'unseen' : nothing}>${options.label}</span></button>`;

/** @param {Event} event */
const ignore = (event) => event.preventDefault();

/** A link that looks like a button. @param {string} address @param {{label: unknown, icon?: string, kind?: string, small?: boolean}} options */
export const linkButton = (address, options) => html`<a class="button ${options.kind || ''} ${options.small ? 'small' : ''}" href=${address}>${options.icon ? icon(options.icon) : nothing}<span>${options.label}</span></a>`;

/** A heading of a view, with what can be done there. @param {unknown} title @param {{about?: unknown, actions?: unknown, above?: unknown}} [more] */
export const heading = (title, more = {}) => html`<header class="heading">
  <div class="grow">${more.above ? html`<p class="above">${more.above}</p>` : nothing}<h1 tabindex="-1"><bdi>${title}</bdi></h1>${more.about ? html`<p class="about">${more.about}</p>` : nothing}</div>
  ${more.actions ? html`<div class="row">${more.actions}</div>` : nothing}</header>`;

/**
 * A refusal in the words of the API, with what helps to find its cause.
 * @param {ApiError | null | undefined} error
 * @param {() => unknown} [again]
 */
export const problem = (error, again) => (error ? html`<div class="notice danger" role="alert">${icon('circle-alert')}<div class="grow">
  <p>${words(sentence(error.message))}</p>
  ${error.errors.length > 1 ? html`<ul>${error.errors.slice(0, 8).map((each) => html`<li><code>${each.param}</code> ${words(each.message)}</li>`)}</ul>` : nothing}
  <p class="small quiet">${[error.code && html`<code>${error.code}</code>`, error.requestId && html` request <code>${error.requestId}</code>`, error.retryAfter ? ` try again in ${duration(error.retryAfter)}` : '']}</p>
  </div>${again ? button({ label: 'Try again', icon: 'rotate-ccw', small: true }, again) : nothing}</div>` : nothing);

/** A message of the API as a sentence. @param {string} message */
export function sentence(message) {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Words of the API, whose names of fields and files stand between backticks. @param {string} text */
export const words = (text) => text.split('`').map((part, index) => (index % 2 ? html`<code>${part}</code>` : part));

/** What is below a long form and always in sight: its buttons, and why it was refused. @param {import('../lib/form.js').Form} form */
export const saveBar = (form) => html`<div class="stack tight savebar">${problem(form.error)}<div class="row">${button({ label: 'Save', kind: 'primary', type: 'submit', busy: form.isBusy, disabled: !form.isChanged })}
  ${form.isChanged ? button({ label: 'Discard changes' }, () => form.reset()) : html`<span class="quiet">Nothing has been changed.</span>`}</div></div>`;

/** @param {'info' | 'warning' | 'danger' | 'success'} kind @param {unknown} content @param {unknown} [action] */
export const notice = (kind, content, action) => html`<div class="notice ${kind}">${icon({ info: 'circle-question-mark', warning: 'triangle-alert', danger: 'circle-alert', success: 'circle-check' }[kind])}<div class="grow">${content}</div>${action || nothing}</div>`;

/** What stands where there is nothing yet, with what to do next. @param {string} symbol @param {string} title @param {unknown} text @param {unknown} [action] */
export const empty = (symbol, title, text, action) => html`<div class="empty">${icon(symbol, 28)}<h2>${title}</h2><p>${text}</p>${action ? html`<div class="row">${action}</div>` : nothing}</div>`;

/** Placeholder lines while something is read. @param {number} [lines] */
export const waiting = (lines = 4) => html`<div class="waiting" role="status"><span class="unseen">Loading…</span>${Array.from({ length: lines }, () => html`<span class="bone"></span>`)}</div>`;

const BADGES = /** @type {Record<string, [string, string]>} */ ({
  trained: ['success', 'circle-check'], indexed: ['success', 'circle-check'], active: ['success', 'circle-check'], enabled: ['success', 'circle-check'], succeeded: ['success', 'circle-check'],
  done: ['success', 'circle-check'], passed: ['success', 'circle-check'], answered: ['success', 'circle-check'], ready: ['success', 'circle-check'], ok: ['success', 'circle-check'],
  pending: ['wait', 'clock'], processing: ['busy', ''], running: ['busy', ''], uploading: ['busy', ''],
  failed: ['danger', 'circle-x'], disabled: ['danger', 'circle-x'], unanswered: ['warning', 'circle-question-mark'], handoff: ['warning', 'message-circle'], lead: ['success', 'check'],
  paused: ['warning', 'pause'], skipped: ['quiet', 'circle-x'], unchanged: ['quiet', 'check'], open: ['wait', 'circle-question-mark'], dismissed: ['quiet', 'x'],
});

/** The state of something: never by colour alone. @param {string} state @param {unknown} [label] */
export const badge = (state, label = state) => {
  const [kind, symbol] = BADGES[state] || ['quiet', ''];
  return html`<span class="badge ${kind}">${kind === 'busy' ? html`<span class="spinner" aria-hidden="true"></span>` : symbol ? icon(symbol, 13) : nothing}${label}</span>`;
};

/** A time as people say it; the exact one is its title. @param {string | null | undefined} time */
export const when = (time) => (time ? html`<time datetime=${time} title=${at(time)}>${ago(time)}</time>` : html`<span>never</span>`);

/** What was written into the field of an event. @param {Event} event */
export const textOf = (event) => /** @type {HTMLInputElement} */ (event.target).value;

/** The button below a list of which there is more. @param {import('../lib/load.js').Paged} list */
export const more = (list) => html`${problem(list.error, () => list.again())}${list.hasMore && !list.error
  ? html`<div class="more">${button({ label: 'Show more', busy: list.isLoading }, () => list.more())}</div>` : nothing}`;

/**
 * Tabs that are links.
 * @param {string} label
 * @param {{label: unknown, address: string, isCurrent: boolean, icon?: string}[]} tabs
 */
export const tabs = (label, tabs) => html`<nav class="tabs" aria-label=${label}>${tabs.map((tab) => html`<a href=${tab.address} aria-current=${tab.isCurrent ? 'page' : nothing}>${tab.icon ? icon(tab.icon) : nothing}${tab.label}</a>`)}</nav>`;

/**
 * A choice of a few, as buttons of which one is pressed.
 * @param {string} label
 * @param {{value: string, label: unknown}[]} choices
 * @param {string} current
 * @param {(value: string) => unknown} choose
 */
export const choice = (label, choices, current, choose) => html`<div class="choice" role="group" aria-label=${label}>${choices.map((each) => html`<button type="button" aria-pressed=${each.value === current ? 'true' : 'false'} @click=${() => choose(each.value)}>${each.label}</button>`)}</div>`;

/** A part of a whole. @param {number} value @param {number} max @param {string} label */
export const meter = (value, max, label) => html`<progress class="meter" max=${max || 1} value=${Math.min(value, max || 1)} aria-label=${label}></progress>`;

/** A text that can be copied. @param {string} text @param {string} label */
export const copyable = (text, label) => html`<span class="copyable"><code>${text}</code>${button({ label: `Copy ${label}`, icon: 'copy', kind: 'plain', small: true, hidden: true }, (event) => copy(event, text))}</span>`;

/** @param {Event} event @param {string} text */
async function copy(event, text) {
  const target = /** @type {HTMLElement} */ (event.currentTarget);
  try {
    await navigator.clipboard.writeText(text);
    toast('Copied.');
  } catch {
    const code = target.parentElement?.querySelector('code');
    if (code) getSelection()?.selectAllChildren(code);
    toast('Your browser does not allow copying; the text is selected.');
  }
}
