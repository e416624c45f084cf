/** Questions that people ask and that the sources do not answer; each can be answered in place. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { number } from '../lib/format.js';
import { Form } from '../lib/form.js';
import { LIMITS } from '../lib/limits.js';
import { Loaded } from '../lib/load.js';
import { to } from '../lib/router.js';
import { can, session } from '../lib/session.js';
import { field, sendOnShortcut, showRefusal } from '../ui/field.js';
import { toast } from '../ui/layers.js';
import { button, empty, heading, icon, problem, tabs, waiting, when } from '../ui/parts.js';

/** Gaps that the API lists at most; it has no pages of them. */
const MOST = 100;
const STATES = [['', 'Open'], ['answered', 'Answered'], ['dismissed', 'Dismissed']];

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function gapsView(context) {
  const { agent } = context.params;
  const path = `v1/agents/${encodeURIComponent(agent)}/gaps`;
  let status = context.query.get('status') || '';
  const read = () => new Loaded(context, (signal) => session.api.get(path, { status: status || 'open', limit: MOST }, signal));
  let gaps = read();
  /** The form of the gap that is being answered. @type {{id: string, form: Form} | null} */
  let answering = null;
  const moving = new Form(context.update, {});
  const without = (id) => {
    const { data } = gaps.value;
    gaps.set({ ...gaps.value, data: data.filter((each) => each.id !== id) });
    // Another one may move up.
    if (data.length >= MOST) gaps.reload();
  };
  const move = (gap, /** @type {string} */ wanted) => moving.submit(async (key) => {
    await session.api.json('PATCH', `${path}/${gap.id}`, { body: { status: wanted }, key });
    without(gap.id);
  });
  const answer = (gap) => async (event) => {
    event.preventDefault();
    const form = answering?.form;
    const source = await form?.submit((key) => session.api.json('POST', `${path}/${gap.id}/answer`, { body: form.values, key }));
    if (!source) return showRefusal(event.target);
    answering = null;
    without(gap.id);
    toast('Answered. The agent knows it as soon as the pair is trained.');
  };
  const view = (gap) => html`<li><div class="row apart nowrap-wide"><span class="row tight grow"><span class="count badge" title="${number(gap.unanswered)} not answered, ${number(gap.rated_down)} rated bad">${number(gap.count)}×</span><b class="grow" dir="auto">${gap.question}</b></span>
      <span class="row tight">${can('sources:write') && gap.status !== 'dismissed' && answering?.id !== gap.id ? button({ label: 'Answer', icon: 'pencil', small: true, kind: gap.status === 'open' ? 'primary' : '' }, () => {
        answering = { id: gap.id, form: new Form(context.update, { question: gap.question, answer: '' }, `gap ${gap.id}`) };
        context.update();
        requestAnimationFrame(() => /** @type {HTMLElement | null} */ (document.querySelector('textarea[name="answer"]'))?.focus());
      }) : nothing}
      ${can('conversations:write') ? gap.status === 'open' ? button({ label: 'Dismiss', icon: 'x', small: true, kind: 'plain' }, () => move(gap, 'dismissed')) : button({ label: 'Open again', icon: 'rotate-ccw', small: true, kind: 'plain' }, () => move(gap, 'open')) : nothing}</span></div>
    <p class="small quiet">${number(gap.unanswered)} not answered${gap.rated_down ? `, ${number(gap.rated_down)} rated bad` : ''} · last asked ${when(gap.last_asked_at)}${gap.source_id ? html` · <a href=${to(['agents', agent, 'sources', gap.source_id])}>answered here</a>` : nothing}</p>
    ${answering?.id === gap.id ? html`<form class="stack" @submit=${answer(gap)} @keydown=${sendOnShortcut}>${field(answering.form, { name: 'question', label: 'Question', most: LIMITS.question, required: true })}
      ${field(answering.form, { name: 'answer', label: 'Answer', rows: 4, required: true })}${problem(answering.form.error)}
      <footer class="row">${button({ label: 'Save the answer', kind: 'primary', type: 'submit', busy: answering.form.isBusy })}${button({ label: 'Cancel' }, () => {
        answering?.form.reset();
        answering = null;
        context.update();
      })}</footer></form>` : nothing}
    ${gap.examples.length ? html`<details><summary class="small">${icon('chevron-right', 13)}As it was asked</summary><ul class="stack tight small">${gap.examples.map((each) => html`<li>${can('conversations:read') ? html`<a href=${`${to(['agents', agent, 'conversations', each.conversation_id])}?n=${each.n}`}><bdi>${each.text}</bdi></a>` : html`<bdi>${each.text}</bdi>`} <span class="quiet">${when(each.asked_at)}</span></li>`)}</ul></details>` : nothing}</li>`;
  return {
    title: 'Gaps',
    changed: (query) => {
      status = query.get('status') || '';
      gaps = read();
    },
    render: () => html`<div class="stack wide">${heading('Gaps', { about: 'What people ask and the sources do not answer, most frequent first.' })}
      ${tabs('State', STATES.map(([name, label]) => ({ label, isCurrent: status === name, address: to(['agents', agent, 'gaps'], { status: name }) })))}
      ${problem(moving.error)}
      ${gaps.value ? gaps.value.data.length ? html`<ul class="entries">${repeat(gaps.value.data, (gap) => gap.id, view)}</ul>` : status ? empty('circle-question-mark', 'None', `No gap is ${status}.`) : empty('circle-check', 'No open gaps', 'Questions that are not answered, or whose reply is rated bad, are collected here. Similar ones are grouped.')
        : gaps.error ? problem(gaps.error, () => gaps.reload()) : waiting(5)}
      ${gaps.value && gaps.value.data.length >= MOST ? html`<p class="small quiet">These are the ${MOST} most frequent ones. Others move up as these are dealt with.</p>` : nothing}
      ${gaps.value?.ungrouped ? html`<p class="small quiet">${number(gaps.value.ungrouped)} more questions are still being sorted. <button type="button" class="button small" @click=${() => gaps.reload()}>Read again</button></p>` : nothing}</div>`,
  };
}
