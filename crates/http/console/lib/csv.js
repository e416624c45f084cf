/** Tables as spreadsheets copy and save them. */

/**
 * The text of a file: UTF-8, UTF-16 with a byte order mark, or otherwise Windows-1252, as which spreadsheets save CSV on Windows.
 * @param {ArrayBuffer} bytes
 */
export function decode(bytes) {
  const [first, second] = new Uint8Array(bytes);
  const mark = first * 256 + second;
  if (mark === 0xFFFE || mark === 0xFEFF) return new TextDecoder(mark === 0xFFFE ? 'utf-16le' : 'utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/**
 * The rows of comma-, semicolon- or tab-separated text with quotes.
 * @param {string} text
 * @returns {string[][]}
 */
export function parse(text) {
  const source = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const first = source.slice(0, 2000).replace(/"[^"]*"/g, '').split('\n')[0];
  // Spreadsheets copy with tabs, and commas stand in sentences too.
  const separator = first.includes('\t') ? '\t' : first.split(';').length > first.split(',').length ? ';' : ',';
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < source.length; at += 1) {
    const letter = source[at];
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (source[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (letter === '"' && !cell) isQuoted = true;
    else if (letter === separator || letter === '\n') {
      row.push(cell);
      cell = '';
      if (letter === '\n') {
        rows.push(row);
        row = [];
      }
    } else cell += letter;
  }
  if (cell || row.length) rows.push([...row, cell]);
  return rows.filter((each) => each.some((value) => value.trim()));
}

/**
 * Questions and answers of a table: its first two columns, without a first row that names them.
 * @param {string} text
 * @returns {{question: string, answer: string}[]}
 */
export function pairs(text) {
  return ofRows(parse(text));
}

/**
 * Questions and answers of two columns that a spreadsheet has copied. Other text has none: its commas and lines belong to sentences.
 * @param {string} text
 */
export function copied(text) {
  const rows = text.includes('\t') ? parse(text) : [];
  return rows.every((row) => row.length > 1 && row[0].trim()) ? ofRows(rows) : [];
}

/** @param {string[][]} rows */
function ofRows(rows) {
  const isHead = rows.length > 1 && /^(question|q|frage|pregunta|domanda)s?$/i.test(rows[0][0].trim());
  return rows.slice(isHead ? 1 : 0).map(([question = '', answer = '']) => ({ question: question.trim(), answer: answer.trim() }));
}
