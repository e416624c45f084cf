/** The conversations of an agent: filtered, searched and exported. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { live } from '../vendor/lit-html/directives/live.js';
import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { beginOf, count, head, number } from '../lib/format.js';
import { Form } from '../lib/form.js';
import { LIMITS } from '../lib/limits.js';
import { Paged } from '../lib/load.js';
import { go, to } from '../lib/router.js';
import { can, has, session, takes } from '../lib/session.js';
import { dialogForm, open, redraw, say, toast } from '../ui/layers.js';
import { radios } from '../ui/field.js';
import { badge, button, empty, heading, icon, linkButton, more, textOf, waiting, when } from '../ui/parts.js';

const LIST = '/v1/agents/{agent_id}/conversations';
const EXPORT = `${LIST}/export`;
/** Conversations whose messages are read at once. */
const AT_ONCE = 4;
const PAGE = 20;
const NAMES = ['text', 'rating', 'unanswered', 'channel', 'visitor', 'after', 'before', 'metadata'];
/** The interfaces through which conversations begin. */
export const CHANNELS = /** @type {Record<string, string>} */ ({ widget: 'Widget', api: 'API', openai: 'OpenAI', mcp: 'MCP' });

/** The latest questions of listed conversations, with their replies: lists have no messages. */
class Latest {
  /** @param {import('../lib/load.js').Owner} owner */
  constructor(owner) {
    this.owner = owner;
    /** By id and number of messages; those that were on their way when the view was left are read again. @type {Map<string, any[]>} */
    this.read = new Map([...(owner.place?.kept.get('latest') || [])].filter(([, messages]) => messages.length));
    owner.place?.kept.set('latest', this.read);
    /** @type {{id: string, name: string}[]} */
    this.queue = [];
    this.running = 0;
  }

  /** The last two messages of a conversation, newest first; none until they were read. @param {any} conversation */
  of({ id, message_count: size }) {
    const name = `${id} ${size}`;
    if (!this.read.has(name)) {
      this.read.set(name, []);
      this.queue.push({ id, name });
      this.next();
    }
    return this.read.get(name) || [];
  }

  async next() {
    const wanted = this.running < AT_ONCE ? this.queue.shift() : undefined;
    if (!wanted) return;
    this.running += 1;
    try {
      this.read.set(wanted.name, (await session.api.get(`v1/conversations/${wanted.id}/messages`, { page_size: 2 }, this.owner.signal)).data);
      this.owner.update();
    } catch {
      // It has been deleted, or the view was left: the list shows its id.
    }
    this.running -= 1;
    this.next();
  }
}

/** @param {import('../app.js').Context} context @returns {import('../app.js').View} */
export function conversationsView(context) {
  const { agent } = context.params;
  const path = `v1/agents/${encodeURIComponent(agent)}/conversations`;
  let query = context.query;
  /** The filters as the API names them. */
  const filters = () => ({
    text: query.get('text'), rating: query.get('rating'), unanswered: query.get('unanswered'), channel: query.get('channel'), visitor_id: query.get('visitor'), metadata: query.getAll('metadata'),
    created_after: beginOf(query.get('after')), created_before: beginOf(query.get('before')),
  });
  let list = new Paged(context, path, filters(), PAGE);
  const latest = new Latest(context);
  let text = query.get('text') || '';
  const turn = (/** @type {Record<string, string>} */ change) => go(to(['agents', agent, 'conversations'], { ...Object.fromEntries(NAMES.map((name) => [name, query.get(name)])), ...change }));
  // Words that were written go with it, although they were not searched for yet.
  const chosen = (name) => (event) => turn({ text, [name]: textOf(event) });
  const options = (/** @type {string} */ name, /** @type {[string, string][]} */ choices) => html`<select @change=${chosen(name)}>${choices.map(([value, label]) => html`<option value=${value} .selected=${live((query.get(name) || '') === value)}>${label}</option>`)}</select>`;
  return {
    title: 'Conversations',
    changed: (next) => {
      query = next;
      text = query.get('text') || '';
      const filtered = list = new Paged(context, path, filters(), PAGE);
      filtered.ready.then(() => {
        if (list === filtered && !list.error) say(`${list.hasMore ? 'At least ' : ''}${count(list.items.length, 'conversation')}.`);
      });
    },
    render: () => {
      const isFiltered = NAMES.some((name) => query.get(name));
      return html`<div class="stack wide">${heading('Conversations', { about: 'What people asked, and what they were told.', actions: has('get', EXPORT) && can('conversations:export') ? button({ label: 'Export', icon: 'download' }, () => exportThem(path, agent, filters())) : nothing })}
        <form class="filters" role="search" @submit=${(event) => {
          event.preventDefault();
          turn({ text });
        }}>
          ${takes(LIST, 'text') ? html`<label class="grow">Words in a message<input type="search" dir="auto" maxlength=${LIMITS.search} placeholder="parking" .value=${live(text)} @input=${(event) => {
            text = textOf(event);
          }} @search=${() => turn({ text })}></label>` : nothing}
          <label>Rating${options('rating', [['', 'Any'], ['down', 'Rated bad'], ['up', 'Rated good']])}</label>
          <label>Answered${options('unanswered', [['', 'Any'], ['true', 'Not all']])}</label>
          <label>Channel${options('channel', [['', 'Any'], ...Object.entries(CHANNELS)])}</label>
          <label>From<input type="date" .value=${query.get('after') || ''} @change=${chosen('after')}></label>
          <label>Before<input type="date" .value=${query.get('before') || ''} @change=${chosen('before')}></label>
          ${query.get('visitor') ? html`<span class="badge">one visitor</span>` : nothing}
          ${isFiltered ? linkButton(to(['agents', agent, 'conversations']), { label: 'Clear', icon: 'x', kind: 'plain' }) : nothing}</form>
        ${!list.isLoaded && !list.error ? waiting() : nothing}
        ${list.isLoaded && !list.items.length && !list.hasMore ? isFiltered ? empty('search', 'No matches', 'No conversation meets all of these conditions.') : empty('messages-square', 'No conversations yet', 'They appear here as soon as somebody asks.', can('conversations:write') ? linkButton(to(['agents', agent, 'playground']), { label: 'Ask the first question', icon: 'message-circle' }) : nothing) : nothing}
        ${list.isLoaded && !list.items.length && list.hasMore ? html`<p class="quiet">None among the newest conversations. There are older ones to search.</p>` : nothing}
        ${list.items.length ? html`<ul class="entries">${repeat(list.items, (each) => each.id, (each) => entry(each, agent, each.match ? [] : latest.of(each)))}</ul>` : nothing}${more(list)}</div>`;
    },
  };
}

/** @param {any} each @param {string} agent @param {any[]} messages */
function entry(each, agent, messages) {
  const [question, reply] = ['user', 'assistant'].map((role) => messages.find((message) => message.role === role)?.content);
  const pairs = Object.entries(each.metadata || {});
  const address = to(['agents', agent, 'conversations', each.id]) + (each.match ? `?n=${each.match.n}` : '');
  return html`<li><div class="row apart"><a class="lines" dir="auto" href=${address}>${each.match ? each.match.text : question ? head(question, 200) : html`<span class="mono">${each.id}</span>`}</a><span class="small quiet nowrap">${when(each.updated_at)}</span></div>
    ${reply ? html`<p class="quiet clip" dir="auto">${head(reply, 300)}</p>` : nothing}
    <p class="row tight small"><span class="quiet">${count(each.message_count, 'message')}</span><span class="quiet">· ${CHANNELS[each.channel] || each.channel}</span>
    ${each.handoff_requested_at ? badge('handoff', 'asked for a person') : nothing}${each.lead ? badge('lead', 'left contact details') : nothing}
    ${each.unanswered_count ? badge('unanswered', `${number(each.unanswered_count)} not answered`) : nothing}${each.ratings.up ? html`<span class="badge success">${icon('thumbs-up', 12)}${each.ratings.up}</span>` : nothing}${each.ratings.down ? html`<span class="badge danger">${icon('thumbs-down', 12)}${each.ratings.down}</span>` : nothing}
    ${pairs.slice(0, 6).map(([name, value]) => html`<span class="badge"><span class="quiet">${name}</span> ${value}</span>`)}</p></li>`;
}

/** @param {string} path @param {string} agent @param {Record<string, any>} filters */
function exportThem(path, agent, { text, ...filters }) {
  const form = new Form(redraw, { format: 'csv' });
  open({
    title: 'Export conversations',
    content: (close) => dialogForm(form, {
      action: 'Export', icon: 'download', close,
      send: async () => {
        const { format } = form.values;
        const response = await session.api.send('GET', `${path}/export`, { query: { ...filters, format }, accept: format === 'csv' ? 'text/csv' : 'application/x-ndjson' });
        save(await response.blob(), `conversations-${agent}.${format}`);
        return true;
      },
      done: () => {
        close();
        toast('The conversations were exported.');
      },
      fields: html`${radios(form, { name: 'format', label: 'Format', choices: [{ value: 'csv', label: 'CSV', about: 'A row for each message, for spreadsheets.' }, { value: 'ndjson', label: 'NDJSON', about: 'A line for each conversation, for programs.' }] })}
      <p class="quiet">The filters of the view hold for the export${text ? ', except for the words' : ''}. It is written to the audit log.</p>`,
    }),
  });
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
