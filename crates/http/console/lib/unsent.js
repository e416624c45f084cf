/** What was written or chosen and the server does not have, wherever it is kept. */

/** @typedef {{has: () => boolean, forget: () => void}} Holder */

/** @type {Holder[]} */
const holders = [];

/** Adds a place where such things are kept. @param {Holder} holder */
export function holdsUnsent(holder) {
  holders.push(holder);
}

/** Whether there is anything that would be lost. */
export const hasUnsent = () => holders.some((each) => each.has());

/** Forgets all of it, because another person may come next. */
export function forgetUnsent() {
  for (const each of holders) each.forget();
}
