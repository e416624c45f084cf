/** One conversation: what was said, and what is being written. */

import { link, prose } from './markdown.js';
import { iconButton, make, textButton } from './nodes.js';

/** Tells the page. @param {string} name @param {object} [detail] */
export const tell = (name, detail) => document.dispatchEvent(new CustomEvent(`cicerone:${name}`, { detail }));

/** @typedef {ReturnType<typeof chatOf>} Chat */

/**
 * @param {import('./service.js').Service} service @param {any} config @param {Record<string, string>} texts
 * @param {() => void} changed Called after a conversation began, went on or ended.
 */
export function chatOf(service, config, texts, changed) {
  /** Counts what was shown: what belongs to an earlier one changes nothing. */
  let round = 0;
  let isBusy = false;
  /** The number of the last reply that is shown. */
  let last = 0;
  /** The conversation that was shown before. @type {string | null} */
  let past = null;
  const turns = make('div.turns');
  const hello = make('div.hello', {}, make('div.prose', { dir: 'auto' }, prose(config.greeting || '')), make('div.row', {}, config.starters.map((text) => textButton(text, () => ask(text), '.starter'))));
  const log = make('div.log', { role: 'log', 'aria-live': 'off', tabindex: 0, 'aria-label': config.title }, hello, turns);
  const said = make('div.unseen', { role: 'status' });
  const trouble = make('div.trouble.row', { role: 'alert' });
  const input = make('textarea', { rows: 1, 'aria-label': texts.message, placeholder: texts.placeholder, dir: 'auto' });
  const send = iconButton('send', texts.send, undefined, '.solid.round');
  const form = make('form.composer', {}, input, send);
  const chat = { service, texts, log, said, trouble, input, form, hello, turns, begin, resume, ask, complain, note, attempt, /** @type {string | null} */ id: null, isHandedOver: false };
  input.onkeydown = (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    const text = input.value.trim();
    const length = [...text].length;
    if (!text || isBusy) return;
    // The limit of the server.
    if (length > 4000) return complain(texts.too_long.replace('{count}', `${length}`));
    input.value = '';
    ask(text);
  };

  function draw() {
    hello.hidden = !!turns.firstChild;
    log.ariaBusy = send.ariaDisabled = `${isBusy}`;
    changed();
  }

  /** Whether the end is shown, or is at most some lines away: then the conversation follows what is written. */
  const isNearEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  const toEnd = () => log.scrollTo(0, log.scrollHeight);

  /** Shows a new conversation. */
  function begin() {
    round += 1;
    isBusy = chat.isHandedOver = false;
    past = chat.id || past;
    chat.id = null;
    turns.replaceChildren();
    complain();
    draw();
  }

  /** Shows a conversation of before. @param {string} id */
  async function resume(id) {
    begin();
    const mine = round;
    const read = await service.read(`/${id}`);
    if (mine !== round) return;
    chat.id = id;
    chat.isHandedOver = read.handoff_requested;
    turns.append(...read.messages.map((each) => (each.role === 'user' ? question(each.content) : answer(each))));
    draw();
    toEnd();
  }

  /** Asks, and shows the reply while it is written. @param {string} text @param {boolean} [isAgain] Whether the server may have the reply already. */
  async function ask(text, isAgain) {
    if (isBusy) return;
    // A conversation that is still being read is not shown any more.
    const mine = ++round;
    const shown = make('div.prose', { dir: 'auto' }, make('div.writing'));
    const both = [question(text), make('div.turn', {}, shown)];
    let reply = '';
    let isDrawing = false;
    complain();
    isBusy = true;
    turns.append(...both);
    said.textContent = texts.writing;
    draw();
    toEnd();
    tell('message', { conversation_id: chat.id, text });
    try {
      let done = isAgain && await recover(text);
      if (mine !== round) return;
      done ||= await service.ask({ message: text, conversation_id: chat.id }, (piece) => {
        reply += piece;
        if (isDrawing) return;
        isDrawing = true;
        requestAnimationFrame(() => {
          isDrawing = false;
          const isNear = isNearEnd();
          shown.replaceChildren(...prose(reply));
          if (isNear) toEnd();
        });
      }).catch(async (error) => error.code === 'broken' && await recover(text).catch(() => null) || Promise.reject(error));
      if (mine !== round) return;
      reply = done.content || reply;
      const isNear = isNearEnd();
      const complete = answer({ ...done, content: reply });
      isBusy = false;
      chat.id = done.conversation_id;
      both[1].replaceWith(complete);
      // Said once, when it is complete.
      said.textContent = complete.children[1].textContent;
      draw();
      if (isNear) toEnd();
      tell('answer', { ...done, reply });
    } catch (error) {
      if (mine !== round) return;
      isBusy = false;
      said.textContent = '';
      if (!reply) both[1].remove();
      draw();
      // What was written is not lost: it can be sent again.
      complain(reason(error), () => {
        input.focus();
        for (const turn of both) turn.remove();
        if (error.code === 'resource_not_found' || !service.credential) chat.id = null;
        ask(text, isAgain || error.code === 'broken');
      });
    }
  }

  /** After a broken stream: the reply, if the server has stored it. @param {string} text @returns {Promise<any>} */
  async function recover(text) {
    let { id } = chat;
    if (!id) {
      const { data: [latest] } = await service.read('');
      if (latest?.messages === 2 && latest.id !== past) id = latest.id;
    }
    if (!id) return;
    const [asked, reply] = (await service.read(`/${id}`)).messages.slice(-2);
    // The same may have been asked before.
    if ((reply.n > last || !chat.id) && asked.content.trim() === text) return { ...reply, conversation_id: id };
  }

  /** Why something failed, in words for the visitor. @param {any} error */
  function reason({ code, status, message }) {
    return { rate_limit_exceeded: texts.busy, quota_exceeded: texts.limit, resource_not_found: texts.unavailable, broken: texts.broken, unauthorized: service.identity && texts.sign_in }[code]
      || (status ? message || texts.unavailable : texts.unreachable).replace(/^./, (/** @type {string} */ each) => each.toUpperCase());
  }

  /** @param {string} [text] @param {() => void} [again] */
  function complain(text, again) {
    trouble.replaceChildren(...(text ? [make('p', {}, text), again ? textButton(texts.retry, again) : ''] : []));
  }

  /** Does something, and says why if it fails. While an element is busy with it, it does nothing else. @param {() => Promise<any>} work @param {any} [element] */
  async function attempt(work, element = {}) {
    if (element.isBusy) return;
    element.isBusy = true;
    try {
      await work();
    } catch (error) {
      complain(reason(error));
    }
    element.isBusy = false;
  }

  /** Says something in the conversation. @param {string} text */
  function note(text) {
    turns.append(make('p.event', {}, text));
    said.textContent = text;
    draw();
    toEnd();
  }

  /** @param {string} text */
  const question = (text) => make('div.turn', {}, make('span.unseen', {}, texts.you), make('div.bubble', { dir: 'auto' }, text));

  /** @param {any} message */
  const answer = ({ content, sources, n, rating }) => make('div.turn', {}, make('span.unseen', {}, texts.reply), make('div.prose', { dir: 'auto' }, prose(content)),
    sources?.length && make('ul.sources', { 'aria-label': texts.sources }, make('li.quiet', {}, texts.sources), sources.map(({ title, url }) => make('li', { dir: 'auto' }, link(url, title || url)))), n && rate(n, rating?.value));

  /** @param {number} n @param {string} [given] */
  function rate(n, given) {
    last = n;
    const buttons = [['up', texts.good], ['down', texts.bad]].map(([value, label]) => iconButton('up', label, () => attempt(async () => {
      const conversation_id = chat.id;
      await service.call('PUT', `/conversations/${conversation_id}/messages/${n}/rating`, { value });
      show(value);
      tell('feedback', { conversation_id, n, value });
    }, row), `.plain.${value}`));
    const show = (/** @type {string | undefined} */ value) => buttons.forEach((each) => (each.ariaPressed = `${each.classList.contains(value)}`));
    const row = make('div.row.rating', {}, buttons);
    show(given);
    return row;
  }

  return chat;
}
