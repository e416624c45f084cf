/** The settings of an agent: change, pause, delete. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { Form } from '../lib/form.js';
import { Loaded } from '../lib/load.js';
import { count } from '../lib/format.js';
import { go } from '../lib/router.js';
import { can, session } from '../lib/session.js';
import { showRefusal } from '../ui/field.js';
import { confirm, toast } from '../ui/layers.js';
import { forgetAgent, nameAgent } from '../ui/frame.js';
import { badge, button, copyable, heading, notice, problem, saveBar, waiting } from '../ui/parts.js';
import { answering, bodyOf, nameAndPrompt, valuesOf } from './agent-form.js';

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function agentSettings(context) {
  const path = `v1/agents/${encodeURIComponent(context.params.agent)}`;
  /** @type {Form | null} */
  let form = null;
  const agent = new Loaded(context, async (signal) => {
    const read = await session.api.get(path, {}, signal);
    form = new Form(context.update, valuesOf(read), `settings ${read.id}`);
    return read;
  });
  /** @param {any} read @param {string} said */
  const changed = (read, said) => {
    agent.set(read);
    nameAgent(read);
    toast(said);
  };
  const save = async (event) => {
    event.preventDefault();
    const read = await form?.submit((key) => session.api.json('PATCH', path, { body: bodyOf(form?.changes || {}), key }));
    if (!read) return showRefusal(event.target);
    form?.reset(valuesOf(read));
    changed(read, 'The settings were saved.');
  };
  const pausing = new Form(context.update, {});
  const turn = (status) => pausing.submit(async (key) => {
    changed(await session.api.json('PATCH', path, { body: { status }, key }), status === 'paused' ? 'The agent is paused.' : 'The agent is active.');
  });
  return {
    title: 'Settings',
    render: () => {
      const { value } = agent;
      if (!value || !form) return html`${heading('Settings')}${problem(agent.error, () => agent.reload())}${agent.error ? nothing : waiting(6)}`;
      const mayWrite = can('agents:write');
      return html`${heading('Settings', { about: html`<span class="row tight">${badge(value.status)}${copyable(value.id, 'the id')}</span>` })}
        <form class="stack wide form" @submit=${save}>
          ${mayWrite ? nothing : notice('info', html`<p>Your key may not change agents.</p>`)}
          <fieldset class="plain" ?disabled=${!mayWrite}><div class="stack wide">
            <section class="card stack">${nameAndPrompt(form)}</section>
            <section class="card stack"><h2>How it answers</h2>${answering(form)}</section>
          </div></fieldset>
          ${mayWrite ? saveBar(form) : nothing}
        </form>
        ${mayWrite ? html`<section class="card stack danger-zone"><h2>Pause or delete</h2>${problem(pausing.error)}
          <div class="row apart"><p>${value.status === 'paused' ? 'It is paused: conversations go on, but no new ones begin.' : 'A paused agent accepts no new conversations. Those that exist go on.'}</p>
            ${value.status === 'paused' ? button({ label: 'Activate', icon: 'play', busy: pausing.isBusy }, () => turn('active')) : button({ label: 'Pause', icon: 'pause', busy: pausing.isBusy }, () => turn('paused'))}</div>
          <div class="row apart"><p>Deleting it deletes its sources and its conversations. They cannot be restored.</p>${button({ label: 'Delete agent', icon: 'trash-2', kind: 'danger' }, () => remove(value))}</div>
        </section>` : nothing}`;
    },
  };
}

/** @param {any} agent */
async function remove(agent) {
  const base = `v1/agents/${agent.id}`;
  const goesWith = await Promise.all([['sources', 'source', 'sources:read'], ['conversations', 'conversation', 'conversations:read']].map(async ([list, noun, permission]) => {
    if (!can(permission)) return `its ${noun}s`;
    const page = await session.api.get(`${base}/${list}`, { page_size: 100 }).catch(() => null);
    return page ? page.has_more ? `more than 100 ${noun}s` : count(page.data.length, noun) : `its ${noun}s`;
  }));
  const isGone = await confirm({
    title: `Delete ${agent.name}?`,
    text: html`<p>With it go ${goesWith.join(' and ')}. It cannot be undone.</p>`,
    action: 'Delete agent',
    work: (key) => session.api.remove(base, key),
  });
  if (!isGone) return;
  forgetAgent(agent.id);
  toast(`${agent.name} was deleted.`);
  go('#/agents');
}
