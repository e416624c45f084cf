/** The key that the person has signed in with, and what it may do. */

import { Api } from './api.js';

const STORED = 'cicerone-key';

/** The state of the session. `me` is null until a key was accepted. */
export const session = {
  api: new Api(''),
  /** @type {any} */
  me: null,
  /** Why the person was signed out, in the words of the API. */
  notice: '',
  /** Signs in again with the key of an earlier page, if it was not refused. @type {(() => unknown) | null} */
  again: null,
  /** The contract; null until it is known. @type {any} */
  contract: null,
  /** Called after the person has signed in or out. */
  onChange: () => {},
};

/** The key of an earlier page in the same tab, if it is to be kept. */
export function storedKey() {
  try {
    return sessionStorage.getItem(STORED);
  } catch {
    return null;
  }
}

/**
 * Signs in; fails if the server refuses the key.
 * @param {string} secret
 * @param {boolean} isKept Whether a reload of the page keeps the key.
 */
export async function signIn(secret, isKept) {
  const api = new Api(secret);
  const me = await api.get('v1/me');
  api.onRefused = (error) => session.api === api && signOut(error.message);
  Object.assign(session, { api, me, notice: '', again: null });
  try {
    if (isKept) sessionStorage.setItem(STORED, secret);
    else sessionStorage.removeItem(STORED);
  } catch {
    // Without storage, the key is in memory only.
  }
  session.onChange();
}

/** Forgets the key. @param {string} [notice] */
export function signOut(notice = '') {
  try {
    sessionStorage.removeItem(STORED);
  } catch {
    // Nothing was stored.
  }
  Object.assign(session, { api: new Api(''), me: null, notice, again: null });
  session.onChange();
}

/** Reads again what the key may do and what the account has used. */
export async function refreshMe() {
  const { api } = session;
  const me = await api.get('v1/me');
  if (session.api === api) session.me = me;
}

/** Whether the key has a permission. @param {string} permission */
export function can(permission) {
  const held = session.me?.api_key.permissions || [];
  return held.includes('*') || held.includes(permission);
}

/** Whether the key is restricted to some agents. */
export function isRestricted() {
  return Boolean(session.me?.api_key.agent_ids);
}

/** Reads what the server can do. */
export async function learnContract() {
  if (session.contract) return;
  session.contract = await session.api.get('v1/openapi.json');
  session.onChange();
}

/** Whether the server has a route. Until that is known, it has not. @param {string} method @param {string} path */
export function has(method, path) {
  return Boolean(session.contract?.paths[path]?.[method]);
}

/** The schema of a query parameter of a list, if it takes it. @param {string} path @param {string} name */
export function takes(path, name) {
  return session.contract?.paths[path]?.get?.parameters?.find((parameter) => parameter.name === name)?.schema;
}

/** The choices for the items of a property of a body. @param {string} schema @param {string} property @returns {string[]} */
export function choicesOf(schema, property) {
  return session.contract?.components.schemas[schema]?.properties[property]?.items.enum || [];
}
