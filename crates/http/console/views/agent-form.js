/** The fields of an agent, for its creation and its settings. */

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { LIMITS } from '../lib/limits.js';
import { session } from '../lib/session.js';
import { check, field, radios, select } from '../ui/field.js';

export const NEW_AGENT = { name: '', system_prompt: '', model: '', temperature: '0.7', max_tokens: '1024', answer_floor: 'balanced', retention_days: '', public_sources: false, receipts: true, source_list: false };

/** The values of a form for an agent that was read. @param {any} agent */
export const valuesOf = (agent) => ({
  name: agent.name, system_prompt: agent.system_prompt, model: agent.model, temperature: String(agent.temperature), max_tokens: String(agent.max_tokens),
  answer_floor: agent.answer_floor, retention_days: agent.retention_days === null ? '' : String(agent.retention_days), public_sources: agent.public_sources,
  receipts: agent.receipts, source_list: agent.source_list,
});

/** The body of a request with these fields. @param {Record<string, any>} values */
export function bodyOf(values) {
  /** @type {Record<string, any>} */
  const body = { ...values };
  for (const name of ['temperature', 'max_tokens', 'retention_days']) {
    // A text that is not a number is sent as it is: the API then says what it expects.
    if (name in body) body[name] = String(body[name]).trim() === '' ? null : Number.isNaN(Number(body[name])) ? body[name] : Number(body[name]);
  }
  if (body.model === '') body.model = null;
  return body;
}

/** @param {import('../lib/form.js').Form} form */
export const nameAndPrompt = (form) => html`
  ${field(form, { name: 'name', label: 'Name', most: LIMITS.name, required: true, autofocus: true, hint: 'People see it where they choose an agent.' })}
  ${field(form, { name: 'system_prompt', label: 'Instructions', rows: 6, most: LIMITS.system_prompt, placeholder: 'You are the guide of a small museum. Answer briefly and kindly.', hint: 'Behaviour, tone and constraints.' })}`;

/** @param {import('../lib/form.js').Form} form */
export function answering(form) {
  const { models, has_upstream: hasUpstream, public_url: publicUrl } = session.me.capabilities;
  const known = models.includes(form.values.model) || !form.values.model ? models : [...models, form.values.model];
  return html`
    ${radios(form, { name: 'answer_floor', label: 'When is a question answered?', choices: [
      { value: 'cautious', label: 'Cautious', about: 'Fewer wrong answers, more questions without one.' },
      { value: 'balanced', label: 'Balanced', about: 'As measured to be best for most content.' },
      { value: 'eager', label: 'Eager', about: 'More questions answered, more answers wrong.' },
    ] })}
    <div class="columns three">
      ${select(form, { name: 'model', label: 'Model', choices: [...(form.values.model ? [] : [{ value: '', label: `${models.includes('gpt-4o') ? 'gpt-4o' : models[0]} (default)` }]), ...known.map((model) => ({ value: model, label: model }))],
        hint: hasUpstream ? nothing : 'No upstream is set up: the embedded answerer replies for every model.' })}
      ${field(form, { name: 'temperature', label: 'Temperature', type: 'number', min: 0, max: LIMITS.temperature, step: 0.1, limit: `0 to ${LIMITS.temperature}`, hint: 'Lower is more deterministic.' })}
      ${field(form, { name: 'max_tokens', label: 'Longest reply', type: 'number', min: 1, max: LIMITS.max_tokens, limit: `1 to ${LIMITS.max_tokens} tokens` })}
    </div>
    ${field(form, { name: 'retention_days', label: 'Keep conversations for', type: 'number', min: 1, max: LIMITS.retention_days, limit: `1 to ${LIMITS.retention_days} days`, placeholder: 'forever', hint: 'Days after the last message until a conversation is removed. Empty: it is kept.' })}
    ${check(form, { name: 'receipts', label: 'Keep a receipt with every reply', hint: 'What was found, what was sent to the model and how long it took.' })}
    ${check(form, { name: 'source_list', label: 'Chat completions end with a list of their sources', hint: 'For clients of OpenAI’s API that show no other citations.' })}
    ${check(form, { name: 'public_sources', label: 'Anybody may read the texts of the sources', hint: publicUrl
      ? html`Publishes all texts of this agent under <code>${publicUrl}</code>, without a key, so that citations can link to them.` : 'Has an effect only if the server has a public address, and it has none.' })}`;
}
