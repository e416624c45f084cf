/** What a view reads from the API: one object, or a list page by page. Both keep what they have while they read again. */

import { ApiError } from './api.js';
import { session } from './session.js';

/** @typedef {{signal: AbortSignal, update: () => void, place?: import('./places.js').Place}} Owner A view, for as long as it is shown. */

/** @param {unknown} error */
export function toApiError(error) {
  if (error instanceof ApiError) return error;
  console.error(error);
  return new ApiError(0, { code: 'console_error', message: `the console failed: ${error instanceof Error ? error.message : error}` });
}

/**
 * One value.
 * @template T
 */
export class Loaded {
  /** @param {Owner} owner @param {(signal: AbortSignal) => Promise<T>} load */
  constructor(owner, load) {
    this.owner = owner;
    this.load = load;
    /** @type {T | undefined} */
    this.value = undefined;
    /** @type {ApiError | null} */
    this.error = null;
    this.isLoading = false;
    this.round = 0;
    this.reload();
  }

  async reload() {
    const round = ++this.round;
    this.isLoading = true;
    try {
      const value = await this.load(this.owner.signal);
      if (round !== this.round) return;
      this.value = value;
      this.error = null;
    } catch (error) {
      if (this.owner.signal.aborted || round !== this.round) return;
      this.error = toApiError(error);
    }
    this.isLoading = false;
    if (!this.owner.signal.aborted) this.owner.update();
  }

  /** Puts a newer value in place. @param {T} value */
  set(value) {
    this.round += 1;
    this.isLoading = false;
    this.value = value;
    this.error = null;
    this.owner.update();
  }
}

/** A list of which more can be read. */
export class Paged {
  /**
   * @param {Owner} owner
   * @param {string} path
   * @param {Record<string, unknown>} [query]
   * @param {number} [size]
   */
  constructor(owner, path, query = {}, size = 50) {
    this.owner = owner;
    this.path = path;
    this.query = query;
    this.size = size;
    /** @type {any[]} */
    this.items = [];
    /** @type {string | null} */
    this.cursor = null;
    this.isLoaded = false;
    this.isLoading = false;
    /** @type {ApiError | null} */
    this.error = null;
    this.round = 0;
    /** What was read last, or is being read. @type {() => Promise<{items: any[], cursor: string | null}>} */
    this.last = () => Promise.resolve({ items: [], cursor: null });
    /** The name of what is kept of it. */
    this.name = `${path} ${JSON.stringify(query)}`;
    const kept = owner.place?.kept.get(this.name);
    if (kept) Object.assign(this, kept, { isLoaded: true });
    /** Resolves when it was read for the first time, or failed. */
    this.ready = this.reload();
  }

  get hasMore() {
    return this.cursor !== null;
  }

  /** Reads as many items as are shown again, from the beginning. */
  async reload() {
    const wanted = this.items.length;
    await this.read(async () => {
      /** @type {any[]} */
      const items = [];
      let cursor = null;
      let page;
      do {
        page = await this.page(cursor);
        items.push(...page.data);
        cursor = page.has_more ? page.next_cursor : null;
      } while (cursor && page.data.length && items.length < wanted);
      return { items, cursor };
    });
  }

  /** Reads the next page. */
  async more() {
    if (this.isLoading || !this.hasMore) return;
    await this.read(async () => {
      const page = await this.page(this.cursor);
      return { items: [...this.items, ...page.data], cursor: page.has_more ? page.next_cursor : null };
    });
  }

  /** Reads everything that is left, up to a number of items. @param {number} most */
  async rest(most) {
    await this.read(async () => {
      const items = [...this.items];
      let cursor = this.cursor;
      do {
        const page = await this.page(cursor);
        items.push(...page.data);
        cursor = page.has_more ? page.next_cursor : null;
      } while (cursor && items.length < most);
      return { items, cursor };
    });
  }

  /** Repeats what has failed. */
  again() {
    return this.read(this.last);
  }

  /** @param {string | null} cursor */
  page(cursor) {
    return session.api.get(this.path, { page_size: this.size, ...this.query, cursor }, this.owner.signal);
  }

  /** @param {() => Promise<{items: any[], cursor: string | null}>} load */
  async read(load) {
    const round = ++this.round;
    this.last = load;
    this.isLoading = true;
    this.owner.update();
    try {
      const found = await load();
      if (round !== this.round) return;
      Object.assign(this, found, { isLoaded: true, error: null });
      this.keep();
    } catch (error) {
      if (this.owner.signal.aborted || round !== this.round) return;
      this.error = toApiError(error);
    }
    this.isLoading = false;
    if (!this.owner.signal.aborted) this.owner.update();
  }

  keep() {
    this.owner.place?.kept.set(this.name, { items: this.items, cursor: this.cursor });
  }

  /** Replaces the item with the same id, or puts it first. @param {any} item */
  put(item) {
    const index = this.items.findIndex((each) => each.id === item.id);
    this.items = index < 0 ? [item, ...this.items] : this.items.toSpliced(index, 1, item);
    this.keep();
    this.owner.update();
  }

  /** @param {string} id */
  remove(id) {
    this.items = this.items.filter((each) => each.id !== id);
    this.keep();
    this.owner.update();
  }
}

/**
 * Calls a function every so often while the page can be seen and the view is shown.
 * @param {Owner} owner
 * @param {number} milliseconds
 * @param {() => unknown} work
 */
export function every(owner, milliseconds, work) {
  let isBusy = false;
  const timer = setInterval(async () => {
    if (document.hidden || isBusy) return;
    isBusy = true;
    try {
      await work();
    } finally {
      isBusy = false;
    }
  }, milliseconds);
  owner.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}
