/** Addresses of views: the part of the address after `#`, as `/agents/agent_x/sources?type=text`. */

/** @typedef {{path: string, query: URLSearchParams}} Place */

/** The current place. @returns {Place} */
export function here() {
  const [path, query = ''] = location.hash.replace(/^#/, '').split('?');
  return { path: path || '/', query: new URLSearchParams(query) };
}

/**
 * The address of a view. Segments are escaped; empty parameters are omitted.
 * @param {string[]} segments
 * @param {Record<string, string | number | null | undefined>} [query]
 */
export function to(segments, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== '' && value !== null && value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return '#/' + segments.map(encodeURIComponent).join('/') + (search ? `?${search}` : '');
}

/** Goes to a view. @param {string} address @param {{replace?: boolean}} [options] */
export function go(address, { replace = false } = {}) {
  if (address === location.hash) return;
  if (!replace) location.hash = address;
  else {
    // The entry of the history stays the same, with what is kept for it.
    history.replaceState(history.state, '', address);
    queueMicrotask(() => dispatchEvent(new HashChangeEvent('hashchange')));
  }
}

/**
 * The parameters of a path that a pattern such as `/agents/:agent` matches.
 * @param {string} pattern
 * @param {string} path
 * @returns {Record<string, string> | null}
 */
export function match(pattern, path) {
  const wanted = pattern.split('/');
  const given = path.replace(/(.)\/$/, '$1').split('/');
  if (wanted.length !== given.length) return null;
  /** @type {Record<string, string>} */
  const found = {};
  for (const [index, part] of wanted.entries()) {
    if (part.startsWith(':')) {
      try {
        found[part.slice(1)] = decodeURIComponent(given[index]);
      } catch {
        return null;
      }
      if (!given[index]) return null;
    } else if (part !== given[index]) return null;
  }
  return found;
}
