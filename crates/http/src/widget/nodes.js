/** Elements and icons. Texts become text nodes and attributes, never markup. */

/** Paths of icons in a square of 24. */
const ICONS = {
  chat: 'M4 5.5h16a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1h-8l-5 4v-4H4a1 1 0 0 1-1-1v-10a1 1 0 0 1 1-1z',
  close: 'M6 6l12 12M18 6L6 18',
  plus: 'M12 5v14M5 12h14',
  list: 'M4 6.5h16M4 12h16M4 17.5h10',
  back: 'M19 12H5M11 6l-6 6 6 6',
  send: 'M12 19V5M6 11l6-6 6 6',
  up: 'M7 11v9H4v-9zM7 11l4-7.5c1.6 0 2.5 1.2 2.2 2.7L12.7 9.5h5.6c1.3 0 2.2 1.2 1.9 2.4l-1.5 6.5c-.2 1-1 1.6-2 1.6H7',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
};

/**
 * An element: `button.plain` with attributes, `on` for its clicks, and children. Attributes that are null, undefined or false are left out.
 * @param {string} name @param {Record<string, any>} [attributes] @param {...any} children
 */
export function make(name, { on, ...attributes } = {}, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = /** @type {any} */ (document.createElement(tag));
  element.classList.add(...classes);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === 0 || value) element.setAttribute(key, value);
  }
  if (on) {
    element.type = 'button';
    element.onclick = on;
  }
  element.append(...children.flat().filter(Boolean));
  return element;
}

/** @param {keyof ICONS} name */
export function icon(name) {
  const [drawing, path] = ['svg', 'path'].map((tag) => document.createElementNS('http://www.w3.org/2000/svg', tag));
  drawing.setAttribute('viewBox', '0 0 24 24');
  path.setAttribute('d', ICONS[name]);
  drawing.append(path);
  return drawing;
}

/** A button that shows an icon. Without `on`, it sends its form. @param {keyof ICONS} symbol @param {string} label @param {() => any} [on] @param {string} [classes] */
export const iconButton = (symbol, label, on, classes = `.plain.${symbol}`) => make(`button${classes}`, { title: label, 'aria-label': label, on }, icon(symbol));

/** @param {string} text @param {() => any} on @param {string} [classes] */
export const textButton = (text, on, classes = '') => make(`button${classes}`, { dir: 'auto', on }, text);
