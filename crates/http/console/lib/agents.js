/** The agents that the key may see, or ask without seeing more of them than their names. */

import { can, session } from './session.js';

/** The most that are read to find some by name, which the API cannot. */
export const MOST = 1000;

/** All of them, newest first. @param {AbortSignal} [signal] @returns {Promise<any[]>} */
export async function allAgents(signal) {
  if (can('agents:read')) return session.api.all('v1/agents', {}, { most: MOST, signal });
  return can('conversations:write') ? (await session.api.get('v1/models', {}, signal)).data : [];
}

/** One of them. @param {string} id @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function agentOf(id, signal) {
  if (can('agents:read')) return session.api.get(`v1/agents/${encodeURIComponent(id)}`, {}, signal);
  return (await allAgents(signal)).find((each) => each.id === id) || { id, name: id };
}

/** Whether every word of a text occurs in a name. @param {string} name @param {string} text */
export function hasWords(name, text) {
  const lower = name.toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => lower.includes(word));
}
