/** A form's values and errors. What was written stays until the server has it, even if the person leaves the view in between. */

import { ApiError, newKey } from './api.js';
import { toApiError } from './load.js';
import { holdsUnsent } from './unsent.js';

/** Values of forms that were left before they were sent, by the name of the form. @type {Map<string, Record<string, any>>} */
const drafts = new Map();

holdsUnsent({ has: () => drafts.size > 0, forget: () => drafts.clear() });

export class Form {
  /**
   * @param {() => void} update
   * @param {Record<string, any>} values
   * @param {string} [name] The name of the form's draft; without one, what was written is lost with the view.
   */
  constructor(update, values, name = '') {
    this.update = update;
    this.name = name;
    this.initial = values;
    /** @type {Record<string, any>} */
    this.values = { ...values, ...(drafts.get(name) || {}) };
    /** @type {Record<string, string>} */
    this.errors = {};
    /** @type {ApiError | null} */
    this.error = null;
    this.isBusy = false;
    this.key = newKey();
  }

  /** @param {string} field @param {any} value */
  set(field, value) {
    if (this.values[field] === value) return;
    this.values[field] = value;
    delete this.errors[field];
    // Other values are another request.
    this.key = newKey();
    if (this.name) this.keep();
    this.update();
  }

  /** Keeps what was changed only: other fields show what the server has when the form is opened again. */
  keep() {
    if (this.isChanged) drafts.set(this.name, this.changes);
    else drafts.delete(this.name);
  }

  get isChanged() {
    return Object.keys(this.values).some((field) => JSON.stringify(this.values[field]) !== JSON.stringify(this.initial[field]));
  }

  /** The values that differ from those at the beginning. */
  get changes() {
    return Object.fromEntries(Object.entries(this.values).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(this.initial[field])));
  }

  /** Begins anew with these values. @param {Record<string, any>} [values] */
  reset(values = this.initial) {
    drafts.delete(this.name);
    Object.assign(this, { initial: values, values: { ...values }, errors: {}, error: null, key: newKey() });
    this.update();
  }

  /**
   * Sends what was written. If that fails, the values stay, and a repetition has the same idempotency key.
   * @template T
   * @param {(key: string) => Promise<T>} work
   * @returns {Promise<T | undefined>}
   */
  async submit(work) {
    if (this.isBusy) return undefined;
    this.isBusy = true;
    this.error = null;
    this.errors = {};
    this.update();
    try {
      const done = await work(this.key);
      drafts.delete(this.name);
      this.key = newKey();
      return done;
    } catch (error) {
      this.fail(toApiError(error));
      return undefined;
    } finally {
      this.isBusy = false;
      this.update();
    }
  }

  /** @param {ApiError} error */
  fail(error) {
    this.error = error;
    const findings = error.errors.length ? error.errors : error.param ? [{ param: error.param, message: error.message }] : [];
    for (const { param, message } of findings) {
      const field = param.split(/[.[]/).find((each) => each in this.values);
      if (field) this.errors[field] ??= message;
    }
    if (error.isSettled) this.key = newKey();
  }
}
