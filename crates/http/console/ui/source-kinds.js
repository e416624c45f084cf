/** How the four types of sources are called and drawn. */

export const KINDS = /** @type {Record<string, {label: string, icon: string}>} */ ({
  website: { label: 'Website', icon: 'globe' },
  text: { label: 'Text', icon: 'text' },
  file: { label: 'File', icon: 'file-text' },
  qa: { label: 'Questions and answers', icon: 'messages-square' },
});

/** What it means that a website is guarded. */
export const GUARD = 'Its content stays as it is if a check that passes would fail with the new pages.';

/** @param {any} source */
export function nameOf(source) {
  if (source.title) return source.title;
  if (source.type === 'website') return source.content;
  if (source.type === 'text') return source.content.slice(0, 80);
  return KINDS[source.type]?.label || source.type;
}
