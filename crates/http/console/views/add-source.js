/** Adds sources: files, a website, a text, questions and answers. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { newKey } from '../lib/api.js';
import { Form } from '../lib/form.js';
import { bytes } from '../lib/format.js';
import { LIMITS } from '../lib/limits.js';
import { toApiError } from '../lib/load.js';
import { session } from '../lib/session.js';
import { holdsUnsent } from '../lib/unsent.js';
import { check, field } from '../ui/field.js';
import { dialogForm, open, redraw, say, toast } from '../ui/layers.js';
import { complete, pairsTable } from '../ui/pairs.js';
import { button, icon, sentence, words } from '../ui/parts.js';
import { GUARD, KINDS } from '../ui/source-kinds.js';

/** Files that are sent at once. */
const AT_ONCE = 2;
const ORDER = ['file', 'website', 'text', 'qa'];

/** Files on their way, by agent. They outlive the views that show them. @type {Map<string, Uploads>} */
const onTheirWay = new Map();

holdsUnsent({
  has: () => [...onTheirWay.values()].some((each) => each.queue.length > 0),
  forget: () => {
    for (const each of onTheirWay.values()) each.stop.abort();
    onTheirWay.clear();
  },
});

/** Files on their way to an agent. */
export class Uploads {
  /** Those of an agent, for a view that shows them. @param {string} agent @param {(source: any) => void} added @param {import('../lib/load.js').Owner} owner */
  static of(agent, added, owner) {
    const uploads = onTheirWay.get(agent) || new Uploads(agent);
    onTheirWay.set(agent, uploads);
    Object.assign(uploads, { added, owner });
    return uploads;
  }

  /** @param {string} agent */
  constructor(agent) {
    this.agent = agent;
    this.added = (/** @type {any} */ _source) => {};
    /** The view that shows them, or has shown them last. @type {import('../lib/load.js').Owner | null} */
    this.owner = null;
    /** Aborted if they are forgotten. */
    this.stop = new AbortController();
    /** `stored` is the id of the file, once the server has it. @type {{file: File, keys: [string, string], stored: string, state: 'waiting' | 'uploading' | 'failed', message: string}[]} */
    this.queue = [];
  }

  get isShown() {
    return this.owner?.signal.aborted === false;
  }

  update() {
    if (this.isShown) this.owner?.update();
  }

  /** @param {Iterable<File>} files */
  add(files) {
    const { max_upload_bytes: most } = session.me.capabilities;
    for (const file of files) {
      const isLarge = file.size > most;
      const message = isLarge ? `It has ${bytes(file.size)}; at most ${bytes(most)} are accepted.` : '';
      this.queue.push({ file, keys: [newKey(), newKey()], stored: '', state: isLarge ? 'failed' : 'waiting', message });
      if (isLarge) say(`${file.name} was not added. ${message}`);
    }
    this.run();
  }

  run() {
    for (const entry of this.queue) {
      if (this.queue.filter((each) => each.state === 'uploading').length >= AT_ONCE) break;
      if (entry.state === 'waiting') this.send(entry);
    }
    this.update();
  }

  /** @param {Uploads['queue'][0]} entry */
  async send(entry) {
    entry.state = 'uploading';
    try {
      const { signal } = this.stop;
      if (!entry.stored) {
        const body = new FormData();
        body.append('file', entry.file, entry.file.name);
        entry.stored = (await session.api.json('POST', 'v1/files', { body, key: entry.keys[0], signal })).id;
      }
      const source = await session.api.json('POST', `v1/agents/${this.agent}/sources`, { body: { type: 'file', content: entry.stored }, key: entry.keys[1], signal });
      this.queue = this.queue.filter((each) => each !== entry);
      if (this.isShown) this.added(source);
      else toast(`${entry.file.name} was added. It is being read.`);
    } catch (failure) {
      if (this.stop.signal.aborted) return;
      const error = toApiError(failure);
      Object.assign(entry, { state: 'failed', message: sentence(error.message) });
      // If the answer was lost, the same keys lead to it. After a refusal, the file may have to be stored anew.
      if (error.isSettled) Object.assign(entry, { keys: [newKey(), newKey()], stored: error.status === 429 ? entry.stored : '' });
      if (this.isShown) say(`${entry.file.name} was not added. ${entry.message}`);
      else if (session.me) toast(`${entry.file.name} was not added. The sources of its agent show why.`);
    }
    this.run();
  }

  view() {
    if (!this.queue.length) return nothing;
    return html`<ul class="uploads" aria-label="Files on their way">${this.queue.map((entry) => html`<li class=${entry.state}>${entry.state === 'failed' ? icon('circle-alert') : html`<span class="spinner" aria-hidden="true"></span>`}
      <span class="grow"><span class="clip">${entry.file.name}</span> <span class="quiet small">${entry.state === 'failed' ? words(entry.message) : entry.state === 'uploading' ? `sending ${bytes(entry.file.size)}` : 'waiting'}</span></span>
      ${entry.state === 'failed' ? html`${button({ label: 'Send again', small: true }, () => {
        entry.state = 'waiting';
        this.run();
      })}${button({ label: `Forget ${entry.file.name}`, icon: 'x', kind: 'plain', small: true, hidden: true }, () => {
        this.queue = this.queue.filter((each) => each !== entry);
        this.update();
      })}` : nothing}</li>`)}</ul>`;
  }
}

/** An address as people write it, with the scheme that they leave out. @param {string} text */
function addressOf(text) {
  const trimmed = text.trim();
  return !trimmed || /^[a-z][a-z\d+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`;
}

/**
 * Asks what to add.
 * @param {{agent: string, kind: string, uploads: Uploads, added: (source: any) => void}} options
 */
export function addSource({ agent, kind, uploads, added }) {
  let shown = ORDER.includes(kind) ? kind : 'file';
  const forms = {
    website: new Form(redraw, { content: '', crawl_subpages: true, guarded: false }, `website ${agent}`),
    text: new Form(redraw, { content: '' }, `text ${agent}`),
    qa: new Form(redraw, { content: '', pairs: [{ question: '', answer: '' }] }, `pairs ${agent}`),
  };
  /** What the site of an address says about a crawl: an answer, or words about it. @type {{url: string, found?: any, told?: string} | undefined} */
  let site;
  const look = async () => {
    const url = addressOf(forms.website.values.content);
    const tell = (/** @type {typeof site} */ answer) => {
      site = answer;
      redraw();
    };
    tell({ url, told: 'Asking the site…' });
    try {
      tell({ url, found: await session.api.json('POST', `v1/agents/${agent}/sources/preview`, { body: { url } }) });
    } catch (error) {
      tell({ url, told: sentence(toApiError(error).message) });
    }
  };
  const rules = () => {
    if (site?.url !== addressOf(forms.website.values.content) || !site) return nothing;
    const { found, told } = site;
    if (!found) return html`<p class="quiet small" role="status">${words(told)}</p>`;
    if (!found.allowed) return html`<p class="objection" role="status">${icon('circle-alert', 13)}<span>${words(sentence(found.reason))}</span></p>`;
    const pause = found.crawl_delay_seconds ? ` It asks for a pause of ${found.crawl_delay_seconds} s between requests.` : '';
    const listed = found.listed ? `Its sitemaps list ${found.list_complete ? '' : 'at least '}${found.listed} pages, of these first:` : 'It lists no pages in sitemaps; the crawl follows links instead.';
    return html`<div class="small" role="status"><p>robots.txt allows this page.${pause} ${listed}</p>
      <ul class="quiet">${found.pages.map((page) => html`<li class="clip">${page.url}${page.allowed ? nothing : ' (not allowed)'}</li>`)}</ul></div>`;
  };
  const values = {
    website: () => ({ type: 'website', content: addressOf(forms.website.values.content), crawl_subpages: forms.website.values.crawl_subpages, guarded: forms.website.values.guarded }),
    text: () => ({ type: 'text', content: forms.text.values.content }),
    qa: () => ({ type: 'qa', content: JSON.stringify(complete(forms.qa.values.pairs)) }),
  };
  const files = (/** @type {(result?: any) => void} */ close) => html`<label class="dropzone" @dragover=${(event) => event.preventDefault()} @drop=${(event) => {
    event.preventDefault();
    uploads.add(event.dataTransfer?.files || []);
    close();
  }}>${icon('upload', 26)}<b>Drop files here, or choose them</b><span class="quiet small">PDF, Word, OpenDocument, RTF, PowerPoint, Excel, CSV, EPUB, mail, HTML or text. At most ${bytes(session.me.capabilities.max_upload_bytes)} each.</span>
    <input class="unseen" type="file" name="files" multiple @change=${(event) => {
      uploads.add(/** @type {HTMLInputElement} */ (event.target).files || []);
      close();
    }}></label>`;
  /** @type {Record<string, () => unknown>} */
  const fields = {
    website: () => html`${field(forms.website, { name: 'content', label: 'Address', inputmode: 'url', most: LIMITS.url, required: true, autofocus: true, placeholder: 'https://museum.example', spellcheck: false })}
      <div class="row">${button({ label: 'See what may be read', icon: 'search', disabled: !forms.website.values.content.trim() }, look)}</div>${rules()}
      ${check(forms.website, { name: 'crawl_subpages', label: 'Follow its links', hint: 'To other pages of the same host, as far as robots.txt allows. During the crawl, you see which pages were read and why others were not.' })}
      ${check(forms.website, { name: 'guarded', label: 'Guard it with the checks', hint: GUARD })}`,
    text: () => field(forms.text, { name: 'content', label: 'Text', rows: 12, most: LIMITS.text, required: true, autofocus: true, hint: 'Its first line becomes its title.' }),
    qa: () => html`${pairsTable(forms.qa)}${forms.qa.errors.content ? html`<p class="objection">${icon('circle-alert', 13)}<span>${words(forms.qa.errors.content)}</span></p>` : nothing}`,
  };
  open({
    title: 'Add content',
    content: (close) => {
      const form = forms[/** @type {'text'} */ (shown)];
      const send = (key) => session.api.json('POST', `v1/agents/${agent}/sources`, { body: values[/** @type {'text'} */ (shown)](), key });
      const done = (source) => {
        added(source);
        toast('Added. It is being read.');
        close();
      };
      return html`<div class="stack wide-dialog"><div class="choice kinds" role="group" aria-label="Type of content">${ORDER.map((each) => html`<button type="button" aria-pressed=${each === shown ? 'true' : 'false'} @click=${() => {
        shown = each;
        redraw();
      }}>${icon(KINDS[each].icon)}<span>${each === 'file' ? 'Files' : KINDS[each].label}</span></button>`)}</div>
      ${shown === 'file' ? files(close) : dialogForm(form, { fields: fields[shown](), action: 'Add', close, send, done })}</div>`;
    },
  });
}
