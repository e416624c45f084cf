/** The console: signs in, finds the view of an address, and draws it inside the frame. */

import { html, render } from './vendor/lit-html/lit-html.js';
import { toApiError } from './lib/load.js';
import { currentPlace, forgetPlaces } from './lib/places.js';
import { here, match } from './lib/router.js';
import { can, learnContract, session, signIn, storedKey } from './lib/session.js';
import { forgetUnsent, hasUnsent } from './lib/unsent.js';
import { focused, restore } from './ui/focus.js';
import { forgetAgent, frame, rememberAgent } from './ui/frame.js';
import * as layers from './ui/layers.js';
import { forgetAgents, shortcuts } from './ui/palette.js';
import { applyScheme } from './ui/scheme.js';
import { empty, heading, linkButton, waiting } from './ui/parts.js';
import { routes } from './views/routes.js';
import { signInView } from './views/sign-in.js';

/**
 * @typedef {object} View
 * @property {string | (() => string)} title
 * @property {() => unknown} render
 * @property {(query: URLSearchParams) => void} [changed] Called if only the parameters of the address have changed.
 * @property {boolean} [isWide] Whether it fills the frame.
 *
 * @typedef {object} Context
 * @property {Record<string, string>} params
 * @property {URLSearchParams} query
 * @property {AbortSignal} signal Aborted when the view is left.
 * @property {() => void} update Draws again soon.
 * @property {import('./lib/places.js').Place} place What is kept for when the person comes back.
 */

const root = /** @type {HTMLElement} */ (document.getElementById('app'));
/** @type {{path: string, view: View, stop: AbortController, context: Context} | null} */
let current = null;
let isDrawing = false;
let isStarting = true;
/** Whether the person has done nothing yet in this view, so that its heading has the focus. */
let isNew = false;
/** The account that was signed in last. */
let account = '';

function update() {
  if (isDrawing) return;
  isDrawing = true;
  queueMicrotask(() => {
    isDrawing = false;
    draw();
  });
}

function draw() {
  if (isStarting) return render(waiting(), root);
  const view = session.me ? current?.view : signInView(update);
  const title = typeof view?.title === 'function' ? view.title() : view?.title;
  document.title = title ? `${title} · Cicerone` : 'Cicerone';
  const place = isNew ? null : focused();
  render(html`${session.me ? frame(view, update) : view?.render()}${layers.view()}`, root);
  layers.afterDraw();
  if (place && document.activeElement === document.body) restore(place);
  // The heading may have been drawn anew with what the view has read.
  if (isNew && document.activeElement === document.body) focusHeading();
}

const focusHeading = () => /** @type {HTMLElement | null} */ (root.querySelector('h1'))?.focus({ preventScroll: true });

/** Shows the view of the current address. */
function navigate() {
  if (!session.me) return update();
  const { path, query } = here();
  if (current) current.context.place.scroll = scrollY;
  const place = currentPlace();
  if (current?.path === path && current.view.changed) {
    current.context.place = place;
    current.view.changed(query);
    draw();
    if (place.scroll !== null) scrollTo(0, place.scroll);
    return;
  }
  current?.stop.abort();
  layers.closeAll();
  const stop = new AbortController();
  const found = find(path);
  rememberAgent(found?.params.agent);
  const context = { params: found?.params || {}, query, signal: stop.signal, update, place };
  current = { path, stop, context, view: missing() };
  if (found) current.view = found.route.needs.every(can) || !found.route.needs.length ? found.route.view(context) : refused(found.route.needs);
  isNew = true;
  draw();
  document.documentElement.dataset.menu = '';
  scrollTo(0, place.scroll ?? 0);
  focusHeading();
}

/** @param {string} path */
function find(path) {
  for (const route of routes) {
    const params = match(route.path, path);
    if (params) return { route, params };
  }
  return null;
}

/** @returns {View} */
const missing = () => ({
  title: 'Not found',
  render: () => html`${heading('Not found')}${empty('circle-question-mark', 'There is no such page', 'The address may be incomplete.', linkButton('#/', { label: 'Go to the beginning', icon: 'arrow-left' }))}`,
});

/** @param {string[]} needs @returns {View} */
const refused = (needs) => ({
  title: 'Not allowed',
  render: () => html`${heading('Not allowed')}${empty('key-round', 'Your key may not see this', html`It lacks ${needs.filter((each) => !can(each)).map((each, index) => html`${index ? ', ' : ''}<code>${each}</code>`)}. Sign in with a key that has it.`)}`,
});

session.onChange = () => {
  if (!session.me) {
    current?.stop.abort();
    current = null;
    layers.closeAll();
    // If the server has refused the key, what was written is there for another key of the account.
    if (!session.notice) forgetUnsent();
    forgetAgent();
    forgetAgents();
    forgetPlaces();
    return update();
  }
  if (account && account !== session.me.account.id) forgetUnsent();
  account = session.me.account.id;
  if (current) return update();
  navigate();
  learnContract().catch((error) => console.error(error));
};

async function start() {
  applyScheme();
  layers.start(update);
  // The browser would scroll before there is anything to scroll to.
  history.scrollRestoration = 'manual';
  addEventListener('hashchange', navigate);
  for (const name of ['pointerdown', 'keydown']) {
    addEventListener(name, () => {
      isNew = false;
    }, { capture: true });
  }
  addEventListener('keydown', (event) => session.me && shortcuts(event, layers.isOpen()));
  addEventListener('beforeunload', (event) => {
    if (hasUnsent()) event.preventDefault();
  });
  // A file that misses its place must not replace the page.
  for (const name of ['dragover', 'drop']) addEventListener(name, (event) => event.preventDefault());
  const key = storedKey();
  if (key) return resume(key);
  isStarting = false;
  update();
}

/** Signs in with the key of an earlier page. @param {string} key */
async function resume(key) {
  isStarting = true;
  update();
  await signIn(key, true).catch((failure) => {
    const error = toApiError(failure);
    session.notice = error.message;
    session.again = [401, 403].includes(error.status) ? null : () => resume(key);
  });
  isStarting = false;
  update();
}

start();
