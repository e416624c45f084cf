/** What takes the place of a conversation for a while: earlier ones, and a form for the visitor's address. */

import { tell } from './chat.js';
import { iconButton, make, textButton } from './nodes.js';

/**
 * Earlier conversations.
 * @param {import('./chat.js').Chat} chat @param {string} language @param {() => void} leave Shows the conversation.
 */
export function earlier(chat, language, leave) {
  const { service, texts } = chat;
  const rows = make('ul.earlier', { tabindex: -1 });
  const none = () => rows.firstChild || rows.append(make('li', {}, texts.no_history));
  const row = (/** @type {any} */ { id, title, updated_at: at }) => {
    const remove = iconButton('trash', `${texts.delete}: ${title}`, () => {
      // The first click asks.
      if (remove.textContent) return chat.attempt(async () => {
        await service.call('DELETE', `/conversations/${id}`);
        if (id === chat.id) chat.begin();
        entry.remove();
        none();
        (rows.querySelector('button') || rows).focus();
      });
      remove.ariaLabel = `${texts.really_delete} ${title}`;
      remove.replaceChildren(texts.really_delete);
    });
    const entry = make('li', {}, make('button.entry', { 'aria-current': id === chat.id && 'true', on: () => {
      leave();
      chat.attempt(() => chat.resume(id));
    } }, make('span', { dir: 'auto' }, title), make('time', {}, new Date(at).toLocaleDateString(language, { dateStyle: 'medium' }))), remove);
    return entry;
  };
  chat.attempt(async () => {
    if (service.credential) rows.append(...(await service.read('')).data.map(row));
    none();
  });
  return rows;
}

/** A form for the visitor's address. @param {import('./chat.js').Chat} chat @param {() => void} leave Shows the conversation. */
export function address(chat, leave) {
  const { texts } = chat;
  const form = make('form.lead', {}, [['email', 254, 'email'], ['name', 100, 'text'], ['phone', 40, 'tel'], ['message', 1000]].map(([name, most, type]) => make('label', {}, texts[`lead_${name}`],
    make(type ? 'input' : 'textarea', { name, type, autocomplete: type && name.replace('phone', 'tel'), maxlength: most, required: name === 'email', dir: 'auto', rows: 3 }))),
  make('div.row', {}, make('button.solid', {}, texts.lead_send), textButton(texts.cancel, () => {
    form.reset();
    leave();
  })));
  form.onsubmit = (event) => {
    event.preventDefault();
    const lead = Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
    chat.attempt(async () => {
      await chat.service.call('PUT', `/conversations/${chat.id}/lead`, lead);
      form.reset();
      leave();
      chat.note(texts.lead_done);
      tell('lead', { conversation_id: chat.id, lead });
    }, form);
  };
  return form;
}
