/** Golden questions of an agent: what replies must contain, and whether they do. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { live } from '../vendor/lit-html/directives/live.js';
import { number } from '../lib/format.js';
import { Form } from '../lib/form.js';
import { Loaded, every } from '../lib/load.js';
import { can, session } from '../lib/session.js';
import { showRefusal } from '../ui/field.js';
import { toast } from '../ui/layers.js';
import { badge, button, empty, heading, icon, problem, textOf, waiting, when, words } from '../ui/parts.js';

const LIVE_MS = 1500;
const MOST = 100;
const TRIGGERS = /** @type {Record<string, string>} */ ({ request: 'run by hand', trained: 'after a source was trained', guard: 'before new content was accepted' });
const isInWork = (run) => run.status === 'pending' || run.status === 'running';

/** Lines of a field. @param {string} text */
const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean);

/** @param {any} check */
const row = (check) => ({ question: check.question, contains: (check.contains || []).join('\n'), sources: (check.sources || []).join('\n'), answered: check.answered === true ? 'yes' : check.answered === false ? 'no' : '' });

/** @param {any[]} rows */
const body = (rows) => ({ checks: rows.filter((each) => each.question.trim()).map((each) => ({ question: each.question, contains: lines(each.contains), sources: lines(each.sources), ...(each.answered ? { answered: each.answered === 'yes' } : {}) })) });

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function checksView(context) {
  const { agent } = context.params;
  const path = `v1/agents/${encodeURIComponent(agent)}/checks`;
  /** @type {Form | null} */
  let form = null;
  const mayWrite = can('agents:write');
  const checks = new Loaded(context, async (signal) => {
    const read = await session.api.get(path, {}, signal);
    form ??= new Form(context.update, { checks: read.checks.map(row) }, `checks ${agent}`);
    return read;
  });
  const runs = new Loaded(context, (signal) => session.api.get(`${path}/runs`, { page_size: 20 }, signal));
  every(context, LIVE_MS, async () => {
    if (runs.value?.data.some(isInWork)) await runs.reload();
  });
  const running = new Form(context.update, {});
  const run = () => running.submit(async (key) => {
    await session.api.json('POST', `${path}/run`, { key });
    await runs.reload();
  });
  const save = async (event) => {
    event.preventDefault();
    const read = await form?.submit(() => session.api.json('PUT', path, { body: body(form?.values.checks || []) }));
    if (!read) return showRefusal(event.target);
    checks.set(read);
    form?.reset({ checks: read.checks.map(row) });
    toast('The checks were saved.');
  };
  const put = (/** @type {number} */ index, /** @type {string} */ name) => (event) => form?.set('checks', form.values.checks.map((each, /** @type {number} */ at) => (at === index ? { ...each, [name]: textOf(event) } : each)));
  const add = () => form?.set('checks', [...form.values.checks, row({ question: '' })]);
  const editor = (each, /** @type {number} */ index) => html`<tr><td>${area('Question', index, each.question, put(index, 'question'))}</td><td>${area('Contains', index, each.contains, put(index, 'contains'))}</td><td>${area('Cites', index, each.sources, put(index, 'sources'))}</td>
    <td><select aria-label="Answered ${index + 1}" @change=${put(index, 'answered')}>${[['', 'either'], ['yes', 'yes'], ['no', 'no']].map(([value, label]) => html`<option value=${value} .selected=${live(each.answered === value)}>${label}</option>`)}</select></td>
    <td>${button({ label: `Remove check ${index + 1}`, icon: 'x', kind: 'plain', small: true, hidden: true }, () => form?.set('checks', form.values.checks.toSpliced(index, 1)))}</td></tr>`;
  return {
    title: 'Checks',
    render: () => {
      if (!checks.value || !form) return html`${heading('Checks')}${checks.error ? problem(checks.error, () => checks.reload()) : waiting(5)}`;
      const rows = form.values.checks;
      return html`<div class="stack wide">${heading('Checks', { about: 'Questions with what their replies must contain. They are asked whenever a source has been trained.', actions: mayWrite && checks.value.checks.length ? button({ label: 'Run now', icon: 'play', busy: running.isBusy || runs.value?.data.some(isInWork), disabled: form.isChanged }, run) : nothing })}
        ${problem(running.error)}
        ${rows.length ? html`<form class="stack" @submit=${save}><fieldset class="plain" ?disabled=${!mayWrite}><div class="scroll pairs checks"><table class="table"><thead><tr><th scope="col">Question</th><th scope="col">The reply contains <span class="quiet">each line</span></th><th scope="col">It cites <span class="quiet">ids or URLs</span></th><th scope="col">It is answered</th><th scope="col"><span class="unseen">Remove</span></th></tr></thead><tbody>${rows.map(editor)}</tbody></table></div></fieldset>
          ${problem(form.error)}${mayWrite ? html`<div class="row apart"><span class="row">${button({ label: 'Save', kind: 'primary', type: 'submit', busy: form.isBusy, disabled: !form.isChanged })}${button({ label: 'Add a check', icon: 'plus', disabled: rows.length >= MOST }, add)}</span><span class="limit">${number(rows.length)} / ${MOST}</span></div>` : nothing}</form>`
          : empty('list-checks', 'No checks yet', 'Write down a question and a word that its reply must contain. When content changes, you learn at once whether the reply still does.', mayWrite ? button({ label: 'Write the first check', icon: 'plus', kind: 'primary' }, add) : nothing)}
        ${runs.value?.data.length ? html`<section class="stack"><h2>Runs</h2><ul class="entries">${runs.value.data.map(runView)}</ul></section>` : nothing}${problem(runs.error, () => runs.reload())}</div>`;
    },
  };
}

/** @param {string} label @param {number} index @param {string} value @param {(event: Event) => void} input */
const area = (label, index, value, input) => html`<textarea rows="2" dir="auto" aria-label="${label} ${index + 1}" .value=${live(value)} @input=${input}></textarea>`;

/** @param {any} run @param {number} index */
const runView = (run, index) => html`<li><div class="row apart"><span class="row tight">${run.status === 'done' ? badge(run.failed ? 'failed' : 'passed', run.failed ? `${number(run.failed)} failed` : 'all passed') : badge(run.status)}<span class="quiet">${number(run.passed)} of ${number(run.passed + run.failed)} passed · ${TRIGGERS[run.trigger] || run.trigger}</span></span><span class="small quiet">${when(run.created_at)}</span></div>
  ${run.error_message ? html`<p class="small danger-text">${words(run.error_message)}</p>` : nothing}
  ${run.results?.length ? html`<details ?open=${index === 0 && run.failed > 0}><summary class="small">${icon('chevron-right', 13)}Replies</summary><table class="table compact"><thead><tr><th scope="col">Question</th><th scope="col">Outcome</th><th scope="col">Reply</th></tr></thead><tbody>${run.results.map((each) => html`<tr><td dir="auto">${each.question}</td><td>${badge(each.passed ? 'passed' : 'failed')}${each.reason ? html`<p class="small danger-text">${words(each.reason)}</p>` : nothing}</td><td class="small" dir="auto">${each.reply || '–'}</td></tr>`)}</tbody></table></details>` : nothing}</li>`;
