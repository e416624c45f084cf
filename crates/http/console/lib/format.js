/** Numbers, times and texts as people read them. */

const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const moment = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [['year', 31_536_000], ['month', 2_592_000], ['day', 86_400], ['hour', 3_600], ['minute', 60]];

/** @param {number | null | undefined} value */
export const number = (value) => (value === null || value === undefined ? '–' : whole.format(value));

/** @param {number | null | undefined} value */
export const compact = (value) => (value === null || value === undefined ? '–' : short.format(value));

/** @param {string | null | undefined} time */
export const at = (time) => (time ? moment.format(new Date(time)) : '–');

/** @param {string} date */
export const dayOf = (date) => day.format(new Date(`${date}T00:00:00Z`));

/** How long ago a time is. @param {string | null | undefined} time */
export function ago(time) {
  if (!time) return 'never';
  const seconds = (new Date(time).getTime() - Date.now()) / 1000;
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
  }
  return seconds > 5 ? 'in a moment' : 'just now';
}

/** How long one has to wait, rounded up. @param {number} seconds */
export function duration(seconds) {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? count(Math.ceil(seconds / 60), 'minute') : count(Math.ceil(seconds / 3600), 'hour');
}

/** @param {number | null | undefined} value */
export function bytes(value) {
  if (value === null || value === undefined) return '–';
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${size >= 100 || unit === 0 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export const count = (count, one, many = `${one}s`) => `${whole.format(count)} ${count === 1 ? one : many}`;

/** @param {number} part @param {number} all */
export const percent = (part, all) => (all ? `${Math.round((100 * part) / all)} %` : '–');

/** @param {number} value */
export const milliseconds = (value) => (value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`);

/** The first characters of a text. @param {string} text @param {number} most */
export const head = (text, most) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);

/** How many characters the API counts. @param {string} text */
export const characters = (text) => Array.from(text).length;

/** A day of the past as `2026-01-31`, in UTC. @param {number} daysAgo */
export const isoDay = (daysAgo) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

/** The moment at which a day, as `2026-01-31`, begins where the person is. What is no day stays as it is: the API says so. @param {string | null} date */
export function beginOf(date) {
  const begin = new Date(`${date}T00:00`);
  return Number.isNaN(begin.getTime()) ? date : begin.toISOString();
}
