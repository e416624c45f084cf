/** What lies above the view: dialogs, panels and short messages. */

import { html } from '../vendor/lit-html/lit-html.js';
import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { focused, restore } from './focus.js';
import { button, icon, problem } from './parts.js';
import { Form } from '../lib/form.js';
import { sendOnShortcut, showRefusal } from './field.js';

/**
 * @typedef {object} Layer
 * @property {number} id
 * @property {string | (() => unknown)} title
 * @property {'dialog' | 'panel' | 'palette'} kind
 * @property {(close: (result?: any) => void) => unknown} content
 * @property {(result: any) => void} close
 */

/** @type {Layer[]} */
let layers = [];
/** @type {{id: number, text: unknown}[]} */
let toasts = [];
/** What was said last to those who cannot see it. */
let said = '';
/** @type {number | undefined} */
let silence;
let count = 0;
let update = () => {};

/** @param {() => void} redraw Called when a layer has changed. */
export function start(redraw) {
  update = redraw;
}

/**
 * Opens a dialog, or a panel at the side; resolves to what it was closed with.
 * @param {{title: string | (() => unknown), kind?: 'dialog' | 'panel' | 'palette', content: (close: (result?: any) => void) => unknown}} options
 * @returns {Promise<any>}
 */
export function open({ title, kind = 'dialog', content }) {
  const id = ++count;
  const before = focused();
  return new Promise((resolve) => {
    const close = (result) => {
      if (!layers.some((layer) => layer.id === id)) return;
      /** @type {HTMLDialogElement | null} */ (document.querySelector(`dialog[data-layer="${id}"]`))?.close();
      layers = layers.filter((layer) => layer.id !== id);
      update();
      restore(before);
      resolve(result);
    };
    layers = [...layers, { id, title, kind, content, close }];
    update();
  });
}

/** Closes everything, because the view changes. */
export function closeAll() {
  for (const layer of layers) layer.close(undefined);
}

/** Whether a dialog is open. */
export const isOpen = () => layers.length > 0;

/** Redraws what is open. */
export const redraw = () => update();

/** Says something in passing. @param {unknown} text */
export function toast(text) {
  const id = ++count;
  toasts = [...toasts.slice(-2), { id, text }];
  update();
  setTimeout(() => {
    toasts = toasts.filter((each) => each.id !== id);
    update();
  }, 6000);
}

/** Says what has changed in the view to those who cannot see it. @param {string} text */
export function say(text) {
  said = text;
  update();
  clearTimeout(silence);
  silence = setTimeout(() => {
    said = '';
    update();
  }, 6000);
}

/**
 * Asks before something is lost; resolves to whether it was done.
 * @param {{title: string, text: unknown, action: string, work: (key: string) => Promise<any>, kind?: 'danger' | 'primary'}} options
 */
export function confirm({ title, text, action, work, kind = 'danger' }) {
  const form = new Form(redraw, {});
  return open({
    title,
    content: (close) => dialogForm(form, { fields: html`<div class="prose">${text}</div>`, action, kind, close, done: () => close(true), send: async (key) => {
      await work(key);
      return true;
    } }),
  });
}

/**
 * The form of a dialog, with its buttons and the server's objection. Cancel discards what was written; closing the dialog in another way keeps it.
 * @param {Form} form
 * @param {{fields: unknown, action: string, close: (result?: any) => void, send: (key: string) => Promise<any>, done: (result: any) => unknown, kind?: 'danger' | 'primary', icon?: string, isWide?: boolean}} options
 */
export const dialogForm = (form, { fields, action, close, send, done, kind = 'primary', icon: symbol, isWide }) => html`<form class="stack ${isWide ? 'wide-dialog' : ''}" @keydown=${sendOnShortcut} @submit=${async (event) => {
  event.preventDefault();
  const result = await form.submit(send);
  if (result !== undefined) done(result);
  else if (form.error) showRefusal(event.target);
}}>${fields}${problem(form.error)}
  <footer class="row end">${button({ label: 'Cancel' }, () => {
    form.reset();
    close();
  })}${button({ label: action, kind, icon: symbol, type: 'submit', busy: form.isBusy })}</footer></form>`;

/** All layers, to be drawn below the view. */
export const view = () => html`${repeat(layers, (layer) => layer.id, dialog)}
  <div class="unseen said" role="status">${said}</div>
  <div class="toasts" role="status" aria-live="polite">${repeat(toasts, (each) => each.id, (each) => html`<div class="toast">${icon('check')}<span>${each.text}</span></div>`)}</div>`;

/** @param {Layer} layer */
const dialog = (layer) => html`<dialog class=${layer.kind} data-layer=${layer.id} aria-labelledby="layer-${layer.id}"
  @cancel=${(event) => {
    event.preventDefault();
    layer.close(undefined);
  }}
  @pointerdown=${(/** @type {PointerEvent} */ event) => {
    if (event.target === event.currentTarget && layer.kind !== 'dialog') layer.close(undefined);
  }}>
  <div class="layer">${layer.kind === 'palette' ? html`<h2 class="unseen" id="layer-${layer.id}">${layer.title}</h2>` : html`<header class="row apart"><h2 id="layer-${layer.id}">${typeof layer.title === 'function' ? layer.title() : layer.title}</h2>
  ${button({ label: 'Close', icon: 'x', kind: 'plain', hidden: true }, () => layer.close(undefined))}</header>`}
  <div class="body">${layer.content(layer.close)}</div></div></dialog>`;

/** Opens the dialogs that were drawn just now. */
export function afterDraw() {
  for (const element of document.querySelectorAll('dialog[data-layer]')) {
    const dialog = /** @type {HTMLDialogElement} */ (element);
    if (dialog.open) continue;
    dialog.showModal();
    const first = dialog.querySelector('[autofocus], .body input, .body textarea, .body select') || dialog.querySelector('.body button, button');
    /** @type {HTMLElement | null} */ (first)?.focus();
  }
}
