/** The frame around a conversation: floating above a page, inside an element of it, or the page itself. */

import { chatOf, tell } from './chat.js';
import { address, earlier } from './forms.js';
import { iconButton, make, textButton } from './nodes.js';
import { TEXTS } from './texts.js';

/* global CSS_TEXT */

const RIGHT_TO_LEFT = /^(ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)\b|-(arab|hebr|nkoo|syrc|thaa)\b/i;

/** White or black, whichever can be read on a colour. @param {string} colour `#rrggbb` */
function readable(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  return .2126 * red + .7152 * green + .0722 * blue > .18 ? '#000' : '#fff';
}

/** @param {Element} element */
const isUsable = (element) => element.checkVisibility() && !element.closest('[inert]');

/** @param {DocumentOrShadowRoot} place @param {string} css */
function dress(place, css) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  place.adoptedStyleSheets = [sheet];
}

/**
 * @param {import('./service.js').Service} service @param {any} config What the server says of the widget.
 * @param {'float' | 'inline' | 'page'} mode @param {HTMLElement} host Where it is drawn.
 */
export function panelOf(service, config, mode, host) {
  const { title, language, appearance } = config;
  const texts = { ...TEXTS, ...config.texts };
  const isPage = mode === 'page';
  const isFloating = mode === 'float';
  let isOpen = !isFloating;
  let isResumed = false;
  const shadow = host.attachShadow({ mode: 'open' });
  const chat = chatOf(service, config, texts, draw);
  const heading = make(isPage ? 'h1' : 'h2', { id: 'title', tabindex: -1 }, make('bdi', {}, title));
  const back = iconButton('back', texts.back, leave);
  const list = iconButton('list', texts.history, () => show(earlier(chat, language, leave)));
  const anew = iconButton('plus', texts.new, () => {
    chat.begin();
    leave();
  });
  const person = textButton(texts.handoff, () => chat.attempt(async () => {
    await service.call('PUT', `/conversations/${chat.id}/handoff`, {});
    chat.isHandedOver = true;
    chat.note(texts.handoff_done);
  }, person));
  const lead = textButton(texts.lead, () => show(contact));
  // It keeps what was written until it is sent or cancelled.
  const contact = address(chat, leave);
  const beside = make('div.beside');
  const offers = make('div.offers.row', {}, person, lead);
  const panel = make(isPage ? 'main.panel' : 'div.panel', isFloating ? { role: 'dialog', 'aria-labelledby': 'title' } : {},
    make('header', {}, back, heading, list, anew, isFloating && iconButton('close', texts.close, close)), chat.log, beside, chat.trouble, offers, chat.form, chat.said);
  const launcher = iconButton('chat', texts.open, open, '.launcher.solid');
  const root = make(`${isPage ? 'div' : 'aside'}.root.${mode}.${appearance.scheme}.${appearance.position}`, { lang: language, dir: RIGHT_TO_LEFT.test(language) ? 'rtl' : 'ltr', 'aria-label': isPage ? null : title }, panel, launcher);
  root.style.setProperty('--accent', appearance.accent);
  root.style.setProperty('--on-accent', readable(appearance.accent));
  root.onkeypress = root.onkeydown = (event) => {
    // What is typed here is no shortcut of the page, which cannot see the field. Browsers that fill in a form send events without a key.
    if (event.key?.length < 2 && !event.ctrlKey && !event.metaKey) event.stopPropagation();
    if (event.key === 'Escape' && !event.isComposing) (beside.firstChild ? leave : close)();
    // Where it covers the page, as the style sheet says too, the focus does not leave it for what cannot be seen.
    if (event.key === 'Tab' && isFloating && matchMedia('(max-width: 30em), (max-height: 26em)').matches) {
      const all = [...panel.querySelectorAll('button, textarea, input, a, [tabindex="0"]')].filter(isUsable);
      if (shadow.activeElement !== all.at(event.shiftKey ? 0 : -1)) return;
      event.preventDefault();
      all.at(event.shiftKey ? -1 : 0).focus();
    }
  };
  dress(shadow, CSS_TEXT);
  if (isPage) dress(document, 'body{margin:0}:root{color-scheme:light dark}');
  shadow.append(root);
  chat.begin();
  resume();

  function draw() {
    const isBeside = !!beside.firstChild;
    const isRefused = config.identity === 'required' && !service.identity;
    const active = shadow.activeElement;
    panel.hidden = !isOpen;
    launcher.hidden = isOpen;
    back.hidden = beside.hidden = !isBeside;
    chat.log.hidden = chat.form.hidden = isBeside;
    list.hidden = isBeside || isRefused;
    anew.hidden = !isBeside && !chat.turns.firstChild;
    person.hidden = !config.handoff || chat.isHandedOver;
    lead.hidden = !config.lead;
    offers.hidden = isBeside || !chat.id;
    chat.form.inert = chat.hello.inert = isRefused;
    if (isRefused) chat.complain(texts.sign_in);
    // What is hidden gives the focus away, so that keys go on to work.
    if (active && !isUsable(active)) toInput();
  }

  function toInput() {
    (chat.form.inert ? heading : chat.input).focus();
  }

  /** Shows something in the place of the conversation. @param {HTMLElement} content */
  function show(content) {
    chat.complain();
    beside.replaceChildren(content);
    draw();
    (content.querySelector('input') || heading).focus();
  }

  /** Shows the conversation again. */
  function leave() {
    beside.replaceChildren();
    draw();
    toInput();
  }

  /** Shows the visitor's latest conversation, once. */
  function resume() {
    if (isResumed || !isOpen || !service.credential) return;
    const { identity } = service;
    chat.attempt(async () => {
      const { data: [latest] } = await service.read('');
      if (identity !== service.identity) return;
      if (latest && !chat.turns.firstChild) await chat.resume(latest.id);
      isResumed = true;
    });
  }

  function open() {
    if (!isOpen) {
      isOpen = true;
      draw();
      resume();
      tell('open');
    }
    toInput();
  }

  function close() {
    if (!isFloating) return;
    const hadFocus = shadow.activeElement;
    isOpen = false;
    draw();
    if (hadFocus) launcher.focus();
  }

  return {
    open, close,
    /** @param {string} text */
    ask(text) {
      open();
      leave();
      if (!chat.form.inert) chat.ask(text);
    },
    /** The visitor is another one from now on. @param {string | null} identity */
    become(identity) {
      service.identity = identity;
      isResumed = false;
      beside.replaceChildren();
      contact.reset();
      chat.begin();
      resume();
    },
  };
}
