/** What a view had read and how far it was scrolled, so that Back shows the same at once. */

import { newKey } from './api.js';

/** @typedef {{scroll: number | null, kept: Map<string, any>}} Place `scroll` is null until the place was left. */

/** The most places that are kept; the oldest is dropped first. */
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
