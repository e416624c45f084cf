/** What views had read, and how far they were scrolled, when the person went on: Back shows it at once, at the same place. */

import { newKey } from './api.js';

/** @typedef {{scroll: number | null, kept: Map<string, any>}} Place `scroll` is null until the place was left. */

/** Places that are kept, those of before the others first. */
const MOST = 30;

/** By entry of the browser's history. @type {Map<string, Place>} */
const places = new Map();

/** The place of the history's current entry. @returns {Place} */
export function currentPlace() {
  const entry = history.state?.entry || newKey();
  if (!history.state?.entry) history.replaceState({ entry }, '');
  const place = places.get(entry) || { scroll: null, kept: new Map() };
  places.delete(entry);
  places.set(entry, place);
  const [oldest] = places.keys();
  if (places.size > MOST) places.delete(oldest);
  return place;
}

/** Forgets them, because another key may not see what was read. */
export const forgetPlaces = () => places.clear();
