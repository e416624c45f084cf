/** One widget: its settings beside what visitors see, the snippet for a site, its token and secret. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { Form } from '../lib/form.js';
import { LIMITS } from '../lib/limits.js';
import { Loaded } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { can, session } from '../lib/session.js';
import { check, field, radios, select, showRefusal } from '../ui/field.js';
import { confirm, toast } from '../ui/layers.js';
import { badge, button, choice, copyable, heading, icon, notice, problem, saveBar, waiting } from '../ui/parts.js';
import { preview } from '../ui/preview.js';
import { lines, originsField, showSecret } from './widgets.js';

const BOUNDS = /** @type {[string, string][]} */ ([['messages_per_day', 'Messages a day'], ['messages_per_visitor_per_hour', 'Messages per visitor and hour'], ['messages_per_address_per_minute', 'Messages per address and minute'], ['replies_at_once', 'Replies at once']]);
const SECRET_KEPT = [['0', 'are refused at once'], ['3600', 'are accepted for an hour'], ['86400', 'are accepted for a day']];
const KEPT = [['0', 'at once'], ['86400', 'after a day'], ['604800', 'after a week']];

/** The values of a form for a widget that was read. @param {any} widget */
function valuesOf({ name, is_active, origins, hosted_page, identity, title, greeting, starters, language, appearance, texts, show_sources, handoff, lead, limits }) {
  return {
    name, is_active, origins: origins.join('\n'), hosted_page, identity, title: title || '', greeting: greeting || '', starters: starters.join('\n'), language, ...appearance,
    texts: Object.entries(texts).map(([key, text]) => `${key}: ${text}`).join('\n'), show_sources, handoff, lead, ...Object.fromEntries(BOUNDS.map(([bound]) => [bound, String(limits[bound])])),
  };
}

/** The body of a request with these fields. @param {Record<string, any>} values */
function bodyOf({ accent, scheme, position, ...values }) {
  const limits = Object.fromEntries(BOUNDS.map(([bound]) => {
    const text = values[bound];
    delete values[bound];
    // A text that is not a number is sent as it is: the API then says what it expects.
    return [bound, text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)];
  }));
  const texts = Object.fromEntries(lines(values.texts).map((line) => {
    const [, key, text] = /^([^:]*):?\s*(.*)$/.exec(line) || [];
    return [key.trim(), text];
  }));
  return { ...values, origins: lines(values.origins), starters: lines(values.starters), title: values.title || null, greeting: values.greeting || null, texts, appearance: { accent, scheme, position }, limits };
}

/** The fields that were changed, so that concurrent changes to other fields by somebody else are kept. @param {Form} form */
function changesOf({ values, initial }) {
  const before = bodyOf({ ...initial });
  return Object.fromEntries(Object.entries(bodyOf({ ...values })).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])));
}

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function widgetView(context) {
  const { agent, widget: id } = context.params;
  const path = `v1/widgets/${encodeURIComponent(id)}`;
  /** @type {Form | null} */
  let form = null;
  let isPinned = false;
  /** The script's hash, of the version that this server serves. @type {{version: string, integrity: string} | null} */
  let script = null;
  const widget = new Loaded(context, async (signal) => {
    const read = await session.api.get(path, {}, signal);
    form = new Form(context.update, valuesOf(read), `widget ${id}`);
    return read;
  });
  const base = (session.me.capabilities.public_url || new URL('.', document.baseURI).href).replace(/\/*$/, '/');
  const save = async (event) => {
    event.preventDefault();
    const read = await form?.submit((key) => session.api.json('PATCH', path, { body: form ? changesOf(form) : {}, key }));
    if (!read) return showRefusal(event.target);
    form?.reset(valuesOf(read));
    widget.set(read);
    toast('The widget was saved.');
  };
  const pin = async () => {
    isPinned = !isPinned;
    context.update();
    script ??= await hashes().catch(() => null);
    context.update();
  };
  const rotateToken = async () => {
    const keep = new Form(context.update, { keep_seconds: '86400' });
    const isDone = await confirm({ title: 'Rotate the token?', kind: 'primary', action: 'Rotate', text: html`<p>Sites need the new snippet, and the hosted page has another address.</p>${select(keep, { name: 'keep_seconds', label: 'The old one stops working', choices: KEPT.map(([value, label]) => ({ value, label })) })}`, work: async (key) => {
      widget.set({ ...widget.value, ...await session.api.json('POST', `${path}/rotate_token`, { body: { keep_seconds: Number(keep.values.keep_seconds) }, key }) });
    } });
    if (isDone) toast('The token was rotated.');
  };
  const rotateSecret = async () => {
    let issued = null;
    const keep = new Form(context.update, { keep_seconds: '86400' });
    const isDone = await confirm({ title: 'Rotate the identity secret?', kind: 'primary', action: 'Rotate', text: html`<p>Your server signs identities with the new one from now on.</p>${select(keep, { name: 'keep_seconds', label: 'Identities that are signed with the old one', choices: SECRET_KEPT.map(([value, label]) => ({ value, label })) })}`, work: async (key) => {
      issued = (await session.api.json('POST', `${path}/rotate_secret`, { body: { keep_seconds: Number(keep.values.keep_seconds) }, key })).identity_secret;
    } });
    if (isDone) showSecret(issued);
  };
  const remove = async () => {
    const isGone = await confirm({ title: `Delete ${widget.value.name}?`, action: 'Delete widget', text: 'Sites that embed it will show nothing. Its conversations are kept.', work: (key) => session.api.remove(path, key) });
    if (isGone) go(to(['agents', agent, 'widgets']));
  };
  const settings = (/** @type {Form} */ form) => html`
    <section class="card stack">${field(form, { name: 'name', label: 'Name', most: LIMITS.name, required: true, hint: 'Only you see it.' })}${originsField(form)}
      ${check(form, { name: 'hosted_page', label: 'A page of its own', hint: 'Anybody who has its address can use it.' })}
      ${check(form, { name: 'is_active', label: 'Turned on', hint: 'If not, its token is unknown everywhere.' })}</section>
    <section class="card stack"><h2>Words</h2>
      ${field(form, { name: 'title', label: 'Title', most: LIMITS.title, placeholder: 'The agent’s name' })}
      ${field(form, { name: 'greeting', label: 'Greeting', rows: 3, most: LIMITS.greeting })}
      ${field(form, { name: 'starters', label: 'Questions to begin with', rows: 3, limit: `at most ${LIMITS.starters} of ${LIMITS.starter} characters`, hint: 'One in each line.' })}
      ${field(form, { name: 'language', label: 'Language', limit: `at most ${LIMITS.language} characters`, hint: 'Such as en, de-CH or ar. It also sets the direction of the text.' })}
      ${field(form, { name: 'texts', label: 'Other words', rows: 3, mono: true, limit: `at most ${LIMITS.texts} of ${LIMITS.widget_text} characters`, placeholder: 'placeholder: Posez une question…\nsend: Envoyer', hint: html`One in each line: the key of a string of the widget, and what it says instead. The <a href="docs/widget" target="_blank" rel="noopener">book</a> lists the keys.` })}</section>
    <section class="card stack"><h2>Look</h2><div class="columns three">
      ${field(form, { name: 'accent', label: 'Accent', type: 'color', hint: 'It must stand out from white and from near-black.' })}
      ${select(form, { name: 'scheme', label: 'Colours', choices: [{ value: 'auto', label: 'as the visitor’s system' }, { value: 'light', label: 'light' }, { value: 'dark', label: 'dark' }] })}
      ${select(form, { name: 'position', label: 'Corner', choices: [{ value: 'right', label: 'right' }, { value: 'left', label: 'left' }] })}</div></section>
    <section class="card stack"><h2>Visitors</h2>
      ${radios(form, { name: 'identity', label: 'Who are they?', choices: [{ value: 'none', label: 'Anonymous', about: 'A browser has its own conversations.' }, { value: 'optional', label: 'Either', about: 'Your site may say who somebody is.' }, { value: 'required', label: 'Signed in', about: 'Your site says who everybody is.' }] })}
      ${check(form, { name: 'show_sources', label: 'They see the sources of replies' })}
      ${check(form, { name: 'handoff', label: 'They may ask for a person', hint: html`Sends the event <code>conversation.handoff_requested</code> to your webhooks.` })}
      ${check(form, { name: 'lead', label: 'They may leave an address', hint: html`Sends the event <code>lead.captured</code>.` })}</section>
    <section class="card stack"><h2>Limits</h2><div class="columns">${BOUNDS.map(([name, label]) => field(form, { name, label, type: 'number', min: 1, max: LIMITS[name], limit: `1 to ${LIMITS[name].toLocaleString('en')}` }))}</div></section>`;
  return {
    title: 'Widget',
    isWide: true,
    render: () => {
      const { value } = widget;
      const above = html`<a href=${to(['agents', agent, 'widgets'])}>${icon('arrow-left', 13)}Widgets</a>`;
      if (!value || !form) return html`${heading('Widget', { above })}${widget.error ? problem(widget.error, () => widget.reload()) : waiting(6)}`;
      const mayWrite = can('agents:write');
      const page = `${base}chat/${value.token}`;
      const snippet = isPinned && script ? `<script src="${base}widget/${script.version}/widget.js" integrity="${script.integrity}" crossorigin="anonymous" data-token="${value.token}" async></script>` : `<script src="${base}widget.js" data-token="${value.token}" async></script>`;
      return html`<div class="stack wide">${heading(value.name, { above, about: html`<span class="row tight">${value.is_active ? badge('active') : badge('paused', 'turned off')}${copyable(value.token, 'the token')}</span>`, actions: value.hosted_page && value.is_active ? linkTo(page) : nothing })}
        <div class="editor"><form class="stack wide form" @submit=${save}><fieldset class="plain" ?disabled=${!mayWrite}><div class="stack wide">${settings(form)}</div></fieldset>
          ${mayWrite ? saveBar(form) : nothing}</form>
          <div class="stack wide beside-form">${preview(bodyOf({ ...form.values }), value.title || '', agent)}
            <section class="card stack"><h2>On your site</h2>
              ${choice('Version', [{ value: '', label: 'Always the newest' }, { value: 'pinned', label: 'Checked by hash' }], isPinned ? 'pinned' : '', pin)}
              ${isPinned && !script ? notice('info', html`<p>${isSecureContext ? 'The version of the script could not be read.' : 'Your browser computes the hash over https only.'}</p>`) : html`<div class="snippet">${copyable(snippet, 'the snippet')}</div>`}
              ${isPinned ? html`<p class="hint">An update of the server changes the address; sites then need the new snippet.</p>` : nothing}
              ${isLoopback(base) ? notice('warning', html`<p>Only this computer finds the server at this address. Others need its public one: open the console there, or set <code>public_url</code>.</p>`) : nothing}
              ${value.origins.length ? nothing : notice('warning', html`<p>No site may embed it yet.</p>`)}
              ${value.hosted_page ? html`<h2>To share</h2>${copyable(page, 'the address')}` : nothing}</section></div></div>
        ${mayWrite ? html`<section class="card stack danger-zone"><h2>Token, secret, deletion</h2>
          <div class="row apart"><p>Rotate the token if it is being abused.</p>${button({ label: 'Rotate token', icon: 'refresh-cw' }, rotateToken)}</div>
          <div class="row apart"><p>Rotate the identity secret if somebody else may know it.</p>${button({ label: 'Rotate secret', icon: 'refresh-cw' }, rotateSecret)}</div>
          <div class="row apart"><p>Sites that embed a deleted widget show nothing.</p>${button({ label: 'Delete widget', icon: 'trash-2', kind: 'danger' }, remove)}</div></section>` : nothing}</div>`;
    },
  };
}

/** Whether an address leads nowhere from other computers. @param {string} address */
const isLoopback = (address) => /^(localhost|.*\.localhost|127\..*|\[::1\])$/.test(new URL(address).hostname);

/** @param {string} page */
const linkTo = (page) => html`<a class="button" href=${page} target="_blank" rel="noopener">${icon('external-link')}<span>Open the page</span></a>`;

/** The version of the widget's script that this server serves, and what `integrity` says of it. */
async function hashes() {
  const script = await fetch(new URL('widget.js', document.baseURI), { cache: 'no-cache' });
  // The tag is the version in the path of the script.
  const [version] = /[0-9a-f]+/.exec(script.headers.get('etag') || '') || [];
  if (!version) throw new Error('the script of the widget has no tag');
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-384', await script.arrayBuffer()));
  return { version, integrity: `sha384-${btoa(String.fromCharCode(...hash))}` };
}
