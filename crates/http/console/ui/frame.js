/** The frame around each view: where the person is, and where else they can go. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { agentOf } from '../lib/agents.js';
import { here, to } from '../lib/router.js';
import { can, has, isRestricted, session, signOut } from '../lib/session.js';
import { confirm } from './layers.js';
import { hasUnsent } from '../lib/unsent.js';
import { openPalette } from './palette.js';
import { button, icon } from './parts.js';
import { chooseScheme, nextScheme, scheme } from './scheme.js';

const MARK = new URL('../mark.svg', import.meta.url).pathname;

/** The agent whose views the frame offers. @type {{id: string, name: string, status: string} | null} */
let agent = null;

/** @param {string | undefined} id The agent of the view; without one, the last agent stays. */
export function rememberAgent(id) {
  if (!id || agent?.id === id) return;
  agent = { id, name: '', status: 'active' };
  agentOf(id).then(nameAgent, () => {});
}

/** Shows a name that was read or changed. @param {{id: string, name: string, status: string}} read */
export function nameAgent(read) {
  if (agent?.id !== read.id) return;
  agent = { id: read.id, name: read.name, status: read.status };
  session.onChange();
}

/** Forgets an agent that was deleted, or whichever it is, because another key may not see it. @param {string} [id] */
export function forgetAgent(id) {
  if (!id || agent?.id === id) agent = null;
}

/** The agent of the views that were visited last. */
export const currentAgent = () => agent;

/**
 * The views of an agent that the key may see.
 * @param {string} id
 */
export function agentViews(id) {
  return [
    { key: 'o', label: 'Overview', icon: 'activity', address: to(['agents', id]), is: can('agents:read') },
    { key: 'p', label: 'Playground', icon: 'message-circle', address: to(['agents', id, 'playground']), is: can('conversations:write') },
    { key: 's', label: 'Sources', icon: 'book-open', address: to(['agents', id, 'sources']), is: can('sources:read') },
    { key: 'c', label: 'Conversations', icon: 'messages-square', address: to(['agents', id, 'conversations']), is: can('conversations:read') },
    { key: 'g', label: 'Gaps', icon: 'circle-question-mark', address: to(['agents', id, 'gaps']), is: can('conversations:read') && has('get', '/v1/agents/{agent_id}/gaps') },
    { key: 'k', label: 'Checks', icon: 'list-checks', address: to(['agents', id, 'checks']), is: can('agents:read') && has('get', '/v1/agents/{agent_id}/checks') },
    { key: 'd', label: 'Widgets', icon: 'globe', address: to(['agents', id, 'widgets']), is: can('agents:read') && has('get', '/v1/agents/{agent_id}/widgets') },
    { key: 'e', label: 'Settings', icon: 'settings-2', address: to(['agents', id, 'settings']), is: can('agents:read') },
  ].filter((view) => view.is);
}

/** The views of the account that the key may see. */
export function accountViews() {
  return [
    { key: 'a', label: 'Agents', icon: 'bot', address: '#/agents', is: can('agents:read') || can('conversations:write') },
    { key: 'u', label: 'Usage', icon: 'chart-no-axes-column', address: '#/usage', is: can('agents:read') },
    { key: 'w', label: 'Webhooks', icon: 'webhook', address: '#/webhooks', is: can('webhooks:read') },
    { key: 'y', label: 'API keys', icon: 'key-round', address: '#/keys', is: can('keys:read') },
    { key: 'l', label: 'Audit log', icon: 'scroll-text', address: '#/audit', is: can('keys:read') && !isRestricted() },
    { key: 'h', label: 'Health', icon: 'heart-pulse', address: '#/health', is: true },
  ].filter((view) => view.is);
}

/** @param {import('../app.js').View | undefined} view @param {() => void} update */
export function frame(view, update) {
  const { path } = here();
  const link = (/** @type {{label: string, icon: string, address: string}} */ each) => {
    const target = each.address.slice(1);
    const isExact = target === path;
    const deep = target.split('/').length > 3 || !target.startsWith('/agents');
    return html`<li><a href=${each.address} aria-current=${isExact || deep && path.startsWith(`${target}/`) ? 'page' : nothing}>${icon(each.icon)}<span>${each.label}</span></a></li>`;
  };
  const toggle = (/** @type {boolean} */ isOpen) => {
    document.documentElement.dataset.menu = isOpen ? 'open' : '';
    update();
  };
  const isMenuOpen = document.documentElement.dataset.menu === 'open';
  return html`<div class="frame">
    <a class="skip" href="#main" @click=${(event) => {
      event.preventDefault();
      document.getElementById('main')?.focus();
    }}>Skip to the content</a>
    <header class="topbar">${button({ label: 'Menu', icon: 'menu', kind: 'plain', hidden: true, expanded: isMenuOpen }, () => toggle(!isMenuOpen))}
      <a class="brand" href="#/agents"><img src=${MARK} width="22" height="22" alt="">Cicerone</a>
      ${button({ label: 'Go to… or do…', icon: 'search', kind: 'plain', hidden: true }, openPalette)}</header>
    <aside class="sidebar">
      <a class="brand" href="#/agents"><img src=${MARK} width="24" height="24" alt="">Cicerone</a>
      <button type="button" class="finder" @click=${openPalette}>${icon('search')}<span>Go to…</span><kbd>Ctrl K</kbd></button>
      <nav aria-label="Console">
        ${agent ? html`<div class="group"><p class="group-name" title=${agent.name}>${icon('bot', 14)}<span class="clip" dir="auto">${agent.name || 'Agent'}</span></p><ul role="list">${agentViews(agent.id).map(link)}</ul></div>` : nothing}
        <div class="group"><p class="group-name"><span class="clip">${session.me.account.name}</span></p><ul role="list">${accountViews().map(link)}</ul></div>
      </nav>
      <footer>
        <p class="who">${icon('key-round', 14)}<span class="clip" title=${session.me.api_key.name}>${session.me.api_key.name}</span></p>
        <div class="row tight">
          <a class="button plain small square" href="docs" target="_blank" rel="noopener" title="Documentation">${icon('book-open')}<span class="unseen">Documentation</span></a>
          ${button({ label: `Colours: ${scheme()}. Change`, icon: { system: 'monitor', light: 'sun', dark: 'moon' }[scheme()], kind: 'plain', small: true, hidden: true }, () => {
            chooseScheme(nextScheme());
            update();
          })}
          ${button({ label: 'Sign out', icon: 'log-out', kind: 'plain', small: true, hidden: true }, leave)}
        </div>
      </footer>
    </aside>
    ${isMenuOpen ? html`<div class="veil" @click=${() => toggle(false)}></div>` : nothing}
    <main id="main" tabindex="-1" class=${view?.isWide ? 'wide' : nothing}>${view?.render()}</main>
  </div>`;
}

/** Signs out; asks first if something was written that the server does not have. */
export async function leave() {
  if (!hasUnsent()) return signOut();
  await confirm({ title: 'Sign out?', text: 'Something that you have written or chosen was not sent. Signing out discards it.', action: 'Sign out', work: async () => signOut() });
}
