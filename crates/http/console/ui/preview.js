/** A widget as visitors will see it, drawn by its own script; it replies without asking anybody. */

import { html } from '../vendor/lit-html/lit-html.js';
import { pause } from '../lib/api.js';
import { currentAgent } from './frame.js';

const REPLY = 'This is how a reply looks: with **emphasis**, [links](https://museum.example/visit) and lists.\n\n- It is shown only here.\n- No question was sent.';
const SOURCES = [{ title: 'A page of your website', url: 'https://museum.example/visit' }];
const DELAY_MS = 60;

/** @type {{host: HTMLElement, drawn: string} | null} */
let current = null;
let problem = '';

/** What the widget asks in place of the API. @param {boolean} showsSources */
const service = (showsSources) => ({
  credential: null, identity: 'preview', keep() {},
  async call() {},
  async read() {
    return { data: [] };
  },
  async ask(_, /** @type {(piece: string) => void} */ onToken) {
    for (const piece of REPLY.split(/(?<= )/)) {
      await pause(DELAY_MS);
      onToken(piece);
    }
    return { conversation_id: 'conv_preview', n: 2, sources: showsSources ? SOURCES : [] };
  },
});

/** @param {Element | undefined} place @param {any} config */
async function draw(place, config) {
  const drawn = JSON.stringify(config);
  if (!place || current?.drawn === drawn && current.host.parentElement === place) return;
  const host = document.createElement('div');
  current = { host, drawn };
  try {
    if (!window.ciceronePreview) await import(new URL('widget.js', document.baseURI).href);
    if (current.host !== host) return;
    window.ciceronePreview(service(config.show_sources), config, 'inline', host);
    place.replaceChildren(host);
    problem = '';
  } catch {
    problem = 'The widget cannot be shown: this server does not serve it, or its settings are incomplete.';
    place.replaceChildren(problem);
  }
}

/** @param {any} widget The body of a request with all fields. @param {string} title @param {string} agent */
export function preview(widget, title, agent) {
  const known = currentAgent();
  const name = known?.id === agent ? known.name : '';
  const config = { ...widget, title: widget.title || name || title, appearance: { ...widget.appearance }, identity: 'none' };
  queueMicrotask(() => draw(document.querySelector('.preview') || undefined, config));
  return html`<section class="preview" aria-label="Preview" data-position=${widget.appearance.position}></section>`;
}
