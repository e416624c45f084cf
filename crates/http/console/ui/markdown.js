/**
 * Replies as paragraphs, lists, headings, code, quotes, tables, emphasis and links: a part of Markdown that is made of nodes, never of markup.
 * Anything else is shown as it was written.
 */

/**
 * @typedef {{kind: 'text', text: string} | {kind: 'code', text: string} | {kind: 'break'} | {kind: 'strong' | 'emphasis' | 'link', children: Inline[], url?: string}} Inline
 * @typedef {{kind: 'paragraph' | 'heading' | 'code' | 'list' | 'quote' | 'rule' | 'table', inlines?: Inline[], text?: string, level?: number, ordered?: boolean, first?: number, items?: Block[][], blocks?: Block[], rows?: Inline[][][]}} Block
 */

/** Nesting beyond this is text. */
const DEEPEST = 6;
/* The time is linear in the length of the text: what is between two marks is limited, and no two parts in a row match the same characters. */
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const INLINE = /(?<!`)(`{1,9})(?!`)([^]{0,1000}?[^`])\1(?!`)|\[((?:[^[\]\\]|\\.)*)\]\(\s{0,9}<?([^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)?)>?\s{0,9}\)|(\*\*|__)(?=\S)([^]{0,1000}?\S)\5|(\*|_)(?=\S)([^]{0,1000}?\S)\7|(https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]])|\\([!-/:-@[-`{-~])|((?<! ) {2,}|\\)\n/;

/** Whether a link may be followed. @param {string} url */
export function isSafe(url) {
  return /^(https?:|mailto:)/i.test(url);
}

/** @param {string} text @param {number} [depth] @returns {Inline[]} */
export function inlines(text, depth = 0) {
  /** @type {Inline[]} */
  const found = [];
  let rest = text;
  const plain = (piece) => piece && found.push({ kind: 'text', text: piece });
  while (rest) {
    const hit = depth < DEEPEST ? INLINE.exec(rest) : null;
    if (!hit) break;
    const before = rest.slice(0, hit.index);
    // An underscore within a word is one of its letters.
    const isInWord = (hit[5] === '__' || hit[7] === '_') && (/[\p{L}\p{N}]$/u.test(before) || /^[\p{L}\p{N}]/u.test(rest.slice(hit.index + hit[0].length)));
    if (isInWord || hit[4] !== undefined && !isSafe(hit[4])) {
      plain(rest.slice(0, hit.index + 1));
      rest = rest.slice(hit.index + 1);
      continue;
    }
    plain(before);
    if (hit[1]) found.push({ kind: 'code', text: hit[2].replace(/\n/g, ' ').trim() });
    else if (hit[4] !== undefined) found.push({ kind: 'link', url: hit[4], children: inlines(hit[3], depth + 1) });
    else if (hit[6] !== undefined) found.push({ kind: 'strong', children: inlines(hit[6], depth + 1) });
    else if (hit[8] !== undefined) found.push({ kind: 'emphasis', children: inlines(hit[8], depth + 1) });
    else if (hit[9]) found.push({ kind: 'link', url: hit[9], children: [{ kind: 'text', text: hit[9] }] });
    else if (hit[10]) plain(hit[10]);
    else found.push({ kind: 'break' });
    rest = rest.slice(hit.index + hit[0].length);
  }
  plain(rest);
  return found;
}

/** Whether a line ends the code that a fence began. @param {string} line @param {string} fence */
const closes = (line, fence) => line.length >= fence.length && line === fence[0].repeat(line.length);

/** @param {string} text @param {number} [depth] @returns {Block[]} */
export function blocks(text, depth = 0) {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  /** @type {Block[]} */
  const found = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line);
    const heading = /^ {0,3}(#{1,6})\s([^]*)$/.exec(line);
    const item = depth < DEEPEST ? ITEM.exec(line) : null;
    if (!line.trim()) at += 1;
    else if (fence) {
      let stop = at + 1;
      while (stop < lines.length && !closes(lines[stop].trim(), fence[1])) stop += 1;
      found.push({ kind: 'code', text: lines.slice(at + 1, stop).join('\n') });
      at = stop + 1;
    } else if (heading) {
      found.push({ kind: 'heading', level: heading[1].length, inlines: inlines(heading[2].trim().replace(/(^|\s)#+$/, '').trimEnd()) });
      at += 1;
    } else if (/^ {0,3}([-*_])( *\1){2,} *$/.test(line)) {
      found.push({ kind: 'rule' });
      at += 1;
    } else if (/^ {0,3}>/.test(line) && depth < DEEPEST) {
      const start = at;
      while (at < lines.length && /^ {0,3}>/.test(lines[at])) at += 1;
      found.push({ kind: 'quote', blocks: blocks(lines.slice(start, at).map((each) => each.replace(/^ {0,3}> ?/, '')).join('\n'), depth + 1) });
    } else if (item) at = list(lines, at, item, found, depth);
    else if (line.includes('|') && /^ *(\| *)?(:?-+:? *\| *)+(:?-+:? *)?$/.test(lines[at + 1] || '')) {
      const start = at;
      while (at < lines.length && lines[at].includes('|')) at += 1;
      const rows = lines.slice(start, at).filter((_, index) => index !== 1);
      found.push({ kind: 'table', rows: rows.map((row) => row.trim().replace(/^\||\|$/g, '').split('|').map((cell) => inlines(cell.trim()))) });
    } else {
      const start = at;
      at += 1;
      while (at < lines.length && lines[at].trim() && !/^ {0,3}(#{1,6}\s|>|`{3}|~{3})/.test(lines[at]) && !/^ {0,3}([-*+]|1[.)]) +\S/.test(lines[at])) at += 1;
      found.push({ kind: 'paragraph', inlines: inlines(lines.slice(start, at).map((each) => each.trimStart()).join('\n').trimEnd()) });
    }
  }
  return found;
}

/** @param {string[]} lines @param {number} start @param {RegExpExecArray} first @param {Block[]} found @param {number} depth @returns {number} The line after the list. */
function list(lines, start, first, found, depth) {
  const ordered = /\d/.test(first[2]);
  /** @type {string[][]} */
  const items = [];
  let indent = 0;
  let at = start;
  for (; at < lines.length; at += 1) {
    const line = lines[at];
    const item = ITEM.exec(line);
    const isNested = line.search(/\S/) >= indent && items.length;
    if (item && !(isNested && indent) && /\d/.test(item[2]) === ordered) {
      indent = item[1].length + item[2].length + 1;
      items.push([line.slice(item[0].length)]);
    } else if (isNested) items[items.length - 1].push(line.slice(indent));
    else if (!line.trim() && ((lines[at + 1] || '').search(/\S/) >= indent || ITEM.test(lines[at + 1] || ''))) items[items.length - 1].push('');
    else if (line.trim() && !item && items[items.length - 1].at(-1)?.trim()) items[items.length - 1].push(line.trim());
    else break;
  }
  found.push({ kind: 'list', ordered, first: ordered ? Number.parseInt(first[2], 10) : undefined, items: items.map((item) => blocks(item.join('\n'), depth + 1)) });
  return at;
}
