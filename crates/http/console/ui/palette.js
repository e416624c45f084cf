/** The command palette, and the shortcuts of the keyboard. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { live } from '../vendor/lit-html/directives/live.js';
import { allAgents, hasWords } from '../lib/agents.js';
import { go, to } from '../lib/router.js';
import { can, isRestricted, session } from '../lib/session.js';
import { accountViews, agentViews, currentAgent, leave } from './frame.js';
import { open, redraw } from './layers.js';
import { icon, textOf } from './parts.js';
import { chooseScheme } from './scheme.js';

/** @typedef {{label: string, icon: string, about?: string, keys?: string, act: () => unknown}} Command */

/** The storage key of the choice to turn off single-key shortcuts. */
const KEYS_OFF = 'cicerone-keys-off';

/** Whether single keys are shortcuts. People who dictate turn this off, because dictated words would trigger them (WCAG 2.1.4). */
let hasKeys = (() => {
  try {
    return !localStorage.getItem(KEYS_OFF);
  } catch {
    return true;
  }
})();

/** @param {boolean} isOn */
function useKeys(isOn) {
  hasKeys = isOn;
  try {
    if (isOn) localStorage.removeItem(KEYS_OFF);
    else localStorage.setItem(KEYS_OFF, '1');
  } catch {
    // It then lasts as long as the page.
  }
  redraw();
}

/** The agents that were last read, for a palette that is filled at once. @type {any[]} */
let agents = [];

/** Forgets them, because another key may not see them. */
export function forgetAgents() {
  agents = [];
}

/** @returns {Command[]} */
function commands() {
  const agent = currentAgent();
  const goTo = (view, /** @type {string | undefined} */ about) => ({ label: view.label, icon: view.icon, about, keys: `g ${view.key}`, act: () => go(view.address) });
  return [
    ...(agent ? agentViews(agent.id).map((view) => goTo(view, agent.name || 'Agent')) : []),
    ...accountViews().map((view) => goTo(view, 'Account')),
    ...(agent && can('sources:write') ? [['file', 'Add files'], ['website', 'Add a website'], ['text', 'Add a text'], ['qa', 'Add questions and answers']].map(([kind, label]) => (
      { label, icon: 'plus', about: agent.name, act: () => go(to(['agents', agent.id, 'sources'], { add: kind })) })) : []),
    ...(can('agents:write') && !isRestricted() ? [{ label: 'Create an agent', icon: 'plus', act: () => go('#/agents?create=1') }] : []),
    ...agents.filter((each) => each.id !== agent?.id).map((each) => ({ label: each.name, icon: 'bot', about: 'Agent', act: () => go(to(['agents', each.id])) })),
    ...['light', 'dark', 'system'].map((name) => ({ label: `Colours: ${name}`, icon: { light: 'sun', dark: 'moon', system: 'monitor' }[name] || '', act: () => {
      chooseScheme(name);
      redraw();
    } })),
    { label: 'Shortcuts of the keyboard', icon: 'command', keys: '?', act: openShortcuts },
    { label: 'Sign out', icon: 'log-out', act: leave },
  ];
}

/** The commands in which every word of the text occurs. @param {string} text */
function matching(text) {
  return commands().filter((command) => hasWords(`${command.label} ${command.about || ''}`, text)).slice(0, 50);
}

export function openPalette() {
  let text = '';
  let chosen = 0;
  if (can('agents:read')) {
    const { api } = session;
    allAgents().then((read) => {
      if (session.api !== api) return;
      agents = read;
      redraw();
    }, () => {});
  }
  open({
    title: 'Go to, or do',
    kind: 'palette',
    content: (close) => {
      const found = matching(text);
      chosen = Math.max(0, Math.min(chosen, found.length - 1));
      const run = (index) => {
        const command = found[index];
        if (!command) return;
        close();
        command.act();
      };
      const press = (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step) chosen = (chosen + step + found.length) % Math.max(1, found.length);
        else if (event.key === 'Enter') run(chosen);
        else return;
        event.preventDefault();
        redraw();
        queueMicrotask(() => queueMicrotask(() => document.querySelector('.palette [aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })));
      };
      return html`<div class="search">${icon('search')}<input type="text" role="combobox" aria-expanded="true" aria-controls="commands" aria-autocomplete="list" aria-label="Go to, or do" placeholder="Go to, or do…"
          aria-activedescendant=${found.length ? `command-${chosen}` : nothing} autocomplete="off" spellcheck="false" @keydown=${press}
          @input=${(event) => {
            text = textOf(event);
            chosen = 0;
            redraw();
          }}></div>
        ${found.length ? nothing : html`<p class="none quiet">Nothing matches these words.</p>`}
        <ul id="commands" role="listbox" aria-label="Commands" class="commands">${found.map((command, index) => html`<li id="command-${index}" role="option" aria-selected=${index === chosen ? 'true' : 'false'} @click=${() => run(index)}
          >${icon(command.icon)}<span class="clip">${command.label}</span>${command.about ? html`<span class="about clip">${command.about}</span>` : nothing}${command.keys ? html`<kbd>${command.keys}</kbd>` : nothing}</li>`)}</ul>`;
    },
  });
}

function openShortcuts() {
  const agent = currentAgent();
  const rows = [
    ['Ctrl K', 'Go to, or do'], ['/', 'The search or the message of the view'], ['?', 'This list'], ['Esc', 'Close what is open'], ['Ctrl Enter', 'Send the form or the message'],
    ...(agent ? agentViews(agent.id) : []).concat(accountViews()).map((view) => [`g ${view.key}`, view.label]),
  ];
  open({
    title: 'Shortcuts of the keyboard',
    content: () => html`<dl class="shortcuts">${rows.map(([keys, label]) => html`<div><dt>${keys.split(' ').map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${label}</dd></div>`)}</dl>
      <label class="field check"><input type="checkbox" .checked=${live(hasKeys)} @change=${(event) => useKeys(event.target.checked)}><span>Use single keys as shortcuts</span></label>`,
  });
}

let lastG = -Infinity;

/** @param {KeyboardEvent} event @param {boolean} isOpen Whether a dialog is open. */
export function shortcuts(event, isOpen) {
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    if (!isOpen) openPalette();
    return;
  }
  const { dataset } = document.documentElement;
  if (event.key === 'Escape' && dataset.menu && !isOpen) {
    dataset.menu = '';
    // What is in the menu cannot be seen any more.
    /** @type {HTMLElement | null} */ (document.querySelector('.topbar button'))?.focus();
    return redraw();
  }
  // The field may be in the preview of a widget.
  const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
  if (!hasKeys || isOpen || event.ctrlKey || event.metaKey || event.altKey || target.closest('input, textarea, select, [contenteditable]')) return;
  if (event.key === '?') openShortcuts();
  else if (event.key === '/') {
    const first = document.querySelector('main [data-first], main input[type="search"], main textarea');
    if (!first) return;
    event.preventDefault();
    /** @type {HTMLElement} */ (first).focus();
  } else if (event.timeStamp - lastG < 1200) {
    lastG = -Infinity;
    const agent = currentAgent();
    const view = [...(agent ? agentViews(agent.id) : []), ...accountViews()].find((each) => each.key === event.key);
    if (!view) return;
    event.preventDefault();
    go(view.address);
  } else if (event.key === 'g') lastG = event.timeStamp;
}
