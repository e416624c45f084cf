/** Light or dark: as the system says, unless the person decides otherwise. */

const STORED = 'cicerone-scheme';
const SCHEMES = ['system', 'light', 'dark'];

export function scheme() {
  try {
    const stored = localStorage.getItem(STORED);
    return stored && SCHEMES.includes(stored) ? stored : 'system';
  } catch {
    return 'system';
  }
}

export function applyScheme() {
  const chosen = scheme();
  if (chosen === 'system') delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = chosen;
}

/** @param {string} chosen */
export function chooseScheme(chosen) {
  try {
    localStorage.setItem(STORED, chosen);
  } catch {
    // It then lasts as long as the page.
  }
  if (chosen === 'system') delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = chosen;
}

/** The scheme after this one. */
export const nextScheme = () => SCHEMES[(SCHEMES.indexOf(scheme()) + 1) % SCHEMES.length];
