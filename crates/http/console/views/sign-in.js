/** The page for people without a session. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { Form } from '../lib/form.js';
import { session, signIn } from '../lib/session.js';
import { check, field } from '../ui/field.js';
import { button, notice, problem, sentence, words } from '../ui/parts.js';

const MARK = new URL('../mark.svg', import.meta.url).pathname;

/** @type {Form | null} */
let form = null;

/** @param {() => void} update @returns {import('../app.js').View} */
export function signInView(update) {
  form ??= new Form(update, { key: '', keep: true });
  const current = form;
  const submit = async (event) => {
    event.preventDefault();
    const isIn = await current.submit(async () => {
      await signIn(current.values.key.trim(), current.values.keep);
      return true;
    });
    if (isIn) form = null;
    else /** @type {HTMLElement | null} */ (document.querySelector('input[name="key"]'))?.focus();
  };
  return {
    title: 'Sign in',
    render: () => html`<main class="sign-in"><form class="stack wide" @submit=${submit}>
      <div class="stack tight"><img src=${MARK} width="44" height="44" alt=""><h1>Sign in to Cicerone</h1>
      <p class="quiet">With an API key. The console shows what the key may do, and does nothing that it may not.</p></div>
      ${session.notice ? notice('warning', html`<p>${words(sentence(session.notice))}</p>`, session.again ? button({ label: 'Try again', icon: 'rotate-ccw', small: true }, session.again) : nothing) : nothing}
      ${field(current, { name: 'key', label: 'API key', type: 'password', autocomplete: 'current-password', mono: true, required: true, autofocus: true, placeholder: 'ck_…', spellcheck: false })}
      ${check(current, { name: 'keep', label: 'Stay signed in in this tab', hint: 'Until the tab is closed. Otherwise, a reload of the page asks for the key again.' })}
      ${problem(current.error)}
      ${button({ label: 'Sign in', kind: 'primary', type: 'submit', busy: current.isBusy })}
      <p class="small quiet">The first start of the server prints the first key. <code>cicerone key create</code> makes others.</p>
    </form></main>`,
  };
}
