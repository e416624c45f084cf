/** Where the keyboard goes on after what had the focus is gone. */

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex]';

/** @typedef {{element: HTMLElement, path: {parent: Element, index: number}[]}} Place */

/** Where the focus is now, and what stands around it; null if nothing has it. @returns {Place | null} */
export function focused() {
  const element = /** @type {HTMLElement | null} */ (document.activeElement);
  if (!element || element === document.body) return null;
  const path = [];
  for (let each = /** @type {Element} */ (element); each.parentElement; each = each.parentElement) {
    path.push({ parent: each.parentElement, index: Array.prototype.indexOf.call(each.parentElement.children, each) });
  }
  return { element, path };
}

/** Puts the focus there again: if it is gone, on what has moved up to its place, or stands before it. @param {Place | null} place */
export function restore(place) {
  if (!place || tried(place.element)) return;
  for (const { parent, index } of place.path) {
    if (!parent.isConnected) continue;
    const children = Array.from(parent.children);
    if (children.slice(index).some((each) => inside(each).some(tried))) return;
    if (children.slice(0, index).toReversed().some((each) => inside(each).toReversed().some(tried))) return;
  }
}

/** @param {Element} element */
const inside = (element) => [element, ...element.querySelectorAll(FOCUSABLE)].filter((each) => each.matches(FOCUSABLE));

/** Whether an element has taken the focus. @param {Element} element */
function tried(element) {
  /** @type {HTMLElement} */ (element).focus();
  return document.activeElement === element;
}
