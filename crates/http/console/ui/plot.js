/** Bars by day, next to the same numbers as a table. */

import { html, nothing, svg } from '../vendor/lit-html/lit-html.js';
import { compact, dayOf, number } from '../lib/format.js';

const WIDE = 720;
/** On narrow screens, so that its letters keep their size. */
const NARROW = 340;
const HEIGHT = 180;
const LEFT = 40;
const BELOW = 22;

/** The next number of the form 1, 2 or 5 times a power of ten. @param {number} value */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) || value;
}

/**
 * @param {string} label What the plot shows, for those who do not see it.
 * @param {{day: string, values: number[]}[]} days Oldest first; the values of a day stand on each other.
 * @param {string[]} names Of the values.
 */
export function plot(label, days, names) {
  const most = roundUp(Math.max(...days.map((day) => day.values.reduce((sum, value) => sum + value, 0)), 1));
  const width = matchMedia('(max-width: 640px)').matches ? NARROW : WIDE;
  const wide = (width - LEFT) / Math.max(1, days.length);
  const high = (value) => ((HEIGHT - BELOW - 8) * value) / most;
  const floor = HEIGHT - BELOW;
  const every = Math.ceil(days.length / 6);
  const bars = days.map((day, index) => {
    let below = 0;
    const x = LEFT + index * wide;
    return svg`<g><title>${dayOf(day.day)}: ${day.values.map((value, at) => `${number(value)} ${names[at]}`).join(', ')}</title><rect class="hit" x=${x} y="0" width=${wide} height=${floor}></rect>${day.values.map((value, at) => {
      const tall = high(value);
      below += tall;
      return value ? svg`<rect class="bar ${at ? 'second' : ''}" x=${x + wide * 0.14} y=${floor - below} width=${wide * 0.72} height=${Math.max(1, tall)} rx="1.5"></rect>` : nothing;
    })}${index % every === 0 ? svg`<text class=${(index / every) % 2 ? 'minor' : nothing} x=${x + wide / 2} y=${HEIGHT - 6} text-anchor="middle">${dayOf(day.day)}</text>` : nothing}</g>`;
  });
  return html`<figure class="stack tight">${names.length > 1 ? html`<ul class="legend">${names.map((name, at) => html`<li><i class=${at ? 'second' : nothing}></i>${name}</li>`)}</ul>` : nothing}
    <svg class="plot" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label="${label}. The table has the numbers.">${[0, 0.5, 1].map((part) => svg`<line class="line" x1=${LEFT} x2=${width} y1=${floor - high(most * part)} y2=${floor - high(most * part)}></line><text x=${LEFT - 8} y=${floor - high(most * part) + 4} text-anchor="end">${compact(most * part)}</text>`)}${bars}</svg></figure>`;
}

/** Every day from the first to the last, also those without a row. @param {number} days @param {(day: string) => number[]} values */
export function byDay(days, values) {
  return Array.from({ length: days }, (_, index) => {
    const day = new Date(Date.now() - (days - 1 - index) * 86_400_000).toISOString().slice(0, 10);
    return { day, values: values(day) };
  });
}
