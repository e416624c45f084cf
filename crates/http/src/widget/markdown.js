/**
 * Replies as paragraphs, lists, headings, code, quotes, tables, emphasis and links: the part of Markdown that the console draws too, made into nodes
 * at once, since a tree between text and nodes would be a tenth of the widget. The browser tests give both the same texts.
 */

import { make } from './nodes.js';

/** Nesting beyond this is text. */
const DEEPEST = 6;
/* The time is linear in the length of the text: what is between two marks is limited, and no two parts in a row match the same characters. */
const ITEM = /^ {0,3}([-*+]|\d{1,9}[.)])( +|$)/;
const BEGINS = /^ {0,3}(#{1,6}\s|>|`{3}|~{3}|([-*+]|1[.)]) +\S)/;
const INLINE = /(?<!`)(`{1,9})(?!`)([^]{0,1000}?[^`])\1(?!`)|\[((?:[^[\]\\]|\\.)*)\]\(\s{0,9}<?((?:https?:|mailto:)[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)?)>?\s{0,9}\)|(\*\*?|(?<![\p{L}\p{N}_])__?)(?=\S)([^]{0,1000}?\S)\5(?!(?<=_)[\p{L}\p{N}])|(https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]])|\\([!-/:-@[-`{-~])|(?:(?<! ) {2,}|\\)\n/iu;

/** A link to another page, or the text alone if its address is not one of the web. @param {string | null} url @param {...any} children */
export const link = (url, ...children) => (/^(https?|mailto):/i.test(url) ? make('a', { href: url, target: '_blank', rel: 'noopener noreferrer nofollow' }, children) : make('span', {}, children));

/** @param {string} text @param {number} [depth] */
function inlines(text, depth = 0) {
  const nodes = [];
  for (let hit; depth < DEEPEST && (hit = INLINE.exec(text)); text = text.slice(hit.index + hit[0].length)) {
    const [, , code, label, url, marks, marked, address, escaped] = hit;
    nodes.push(text.slice(0, hit.index),
      code ? make('code', {}, code.trim())
        : url ? link(url, inlines(label, depth + 1))
          : marks ? make(marks[1] ? 'strong' : 'em', {}, inlines(marked, depth + 1))
            : address ? link(address, address) : escaped || make('br'));
  }
  return [...nodes, text];
}

/** The nodes of a text. @param {string} text @param {number} [depth] @returns {any[]} */
export function prose(text, depth = 0) {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const nodes = [];
  let at = 0;
  /** Takes lines while they match, and the first in any case. @param {(line: string) => any} matches */
  const take = (matches) => {
    const start = at;
    do at += 1; while (at < lines.length && matches(lines[at]));
    return lines.slice(start, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const [, fence] = /^ {0,3}(`{3,}|~{3,})/.exec(line) || [];
    const heading = (/^ {0,3}#{1,6}\s([^]*)$/.exec(line) || ['', ''])[1].trim().replace(/(?<![\s#])[\s#]+$/, '');
    const item = depth < DEEPEST && ITEM.exec(line);
    if (!line.trim()) at += 1;
    else if (fence) {
      const code = take((each) => !each.trim().startsWith(fence)).slice(1);
      at += 1;
      nodes.push(make('pre', { tabindex: 0 }, make('code', {}, code.join('\n'))));
    } else if (heading) nodes.push(make('p', {}, make('strong', {}, inlines(heading)))), at += 1;
    else if (/^ {0,3}([-*_])( *\1){2,} *$/.test(line)) nodes.push(make('hr')), at += 1;
    else if (/^ {0,3}>/.test(line) && depth < DEEPEST) nodes.push(make('blockquote', {}, prose(take((each) => /^ {0,3}>/.test(each)).map((each) => each.replace(/^ {0,3}> ?/, '')).join('\n'), depth + 1)));
    else if (item) {
      const isOrdered = /\d/.test(item[1]);
      const list = make(isOrdered ? 'ol' : 'ul', { start: isOrdered && parseInt(item[1], 10) });
      for (let next = item; next && /\d/.test(next[1]) === isOrdered; next = ITEM.exec(lines[at] || '')) {
        const indent = line.search(/\S/) + next[1].length + 1;
        const isInside = (/** @type {string} */ each) => each.search(/\S/) >= indent || !each.trim() && lines[at + 1]?.search(/\S/) >= indent;
        const [first, ...rest] = take((each) => isInside(each) || each.trim() && !BEGINS.test(each) && !ITEM.test(each) && lines[at - 1].trim());
        const inner = prose([first.slice(next[0].length), ...rest.map((each) => (each.search(/\S/) >= indent ? each.slice(indent) : each.trim()))].join('\n'), depth + 1);
        list.append(make('li', {}, inner.length === 1 && inner[0].tagName === 'P' ? [...inner[0].childNodes] : inner));
        // An empty line between two items.
        if (lines[at] === '' && ITEM.test(lines[at + 1] || '')) at += 1;
      }
      nodes.push(list);
    } else if (line.includes('|') && /^ *(\| *)?(:?-+:? *\| *)+(:?-+:? *)?$/.test(lines[at + 1] || '')) {
      const rows = take((each) => each.includes('|')).map((row, index) => make('tr', {}, row.trim().replace(/^\||\|$/g, '').split('|').map((cell) => make(index ? 'td' : 'th', {}, inlines(cell.trim())))));
      rows.splice(1, 1);
      nodes.push(make('div.scroll', { tabindex: 0 }, make('table', {}, rows)));
    } else nodes.push(make('p', {}, inlines(take((each) => each.trim() && !BEGINS.test(each)).map((each) => each.trimStart()).join('\n').trimEnd())));
  }
  return nodes;
}
