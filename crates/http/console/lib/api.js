/** The public API, as the console calls it: JSON, errors, pages of lists, events, and requests that are safe to repeat. */

/**
 * @typedef {object} Options
 * @property {Record<string, unknown>} [query] Parameters; empty ones are omitted.
 * @property {unknown} [body] Sent as JSON, or as it is if it is form data.
 * @property {string} [key] The idempotency key, of a change.
 * @property {AbortSignal} [signal]
 * @property {string} [accept]
 */

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** How often a read is repeated if the server is busy or cannot be reached. */
const REPEATS = 2;

/** A refusal of the server, or a request without an answer. */
export class ApiError extends Error {
  /**
   * @param {number} status The HTTP status; 0 if there was no answer.
   * @param {{code?: string, message?: string, param?: string, errors?: {param: string, message: string}[], request_id?: string, retry_after?: number}} detail
   */
  constructor(status, detail) {
    super(detail.message || `the server answered with status ${status}`);
    this.status = status;
    this.code = detail.code || '';
    this.param = detail.param || '';
    this.errors = detail.errors || [];
    this.requestId = detail.request_id || '';
    this.retryAfter = detail.retry_after || 0;
  }

  /** Whether the server has decided. The refusal then belongs to its idempotency key, and the same values may be accepted with another one. */
  get isSettled() {
    const isInProgress = this.status === 409 && this.retryAfter > 0;
    return this.status >= 400 && this.status < 500 && !isInProgress;
  }
}

/** A random idempotency key. One is made for each thing that a person decides to do, and kept until it is done. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(22));
  return 'console-' + Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

export class Api {
  /** @param {string} secret The API key. */
  constructor(secret) {
    /** @type {string} */
    this.secret = secret;
    /** Called if the key is refused. @type {(error: ApiError) => void} */
    this.onRefused = () => {};
  }

  /**
   * The address of a path such as `v1/agents`, with parameters.
   * @param {string} path
   * @param {Record<string, unknown>} [query]
   */
  static address(path, query = {}) {
    const url = new URL(path, document.baseURI.replace(/#.*$/, ''));
    for (const [name, value] of Object.entries(query)) {
      for (const each of Array.isArray(value) ? value : [value]) {
        if (each !== undefined && each !== null && each !== '') url.searchParams.append(name, String(each));
      }
    }
    return url.href;
  }

  /**
   * Sends a request; resolves to the response if it is a success.
   * @param {string} method
   * @param {string} path
   * @param {Options} [options]
   * @returns {Promise<Response>}
   */
  async send(method, path, options = {}) {
    const { query, body, key, signal, accept = 'application/json' } = options;
    const headers = new Headers({ Accept: accept });
    if (this.secret) headers.set('Authorization', `Bearer ${this.secret}`);
    if (key) headers.set('Idempotency-Key', key);
    const isForm = body instanceof FormData;
    if (body !== undefined && !isForm) headers.set('Content-Type', 'application/json');
    const text = isForm ? body : body === undefined ? undefined : JSON.stringify(body);
    for (let round = 0; ; round += 1) {
      try {
        const response = await fetch(Api.address(path, query), {
          method, headers, body: text, signal, cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer',
        });
        if (response.ok) return response;
        const error = await refusal(response);
        if (method !== 'GET' || ![429, 503].includes(error.status) || round >= REPEATS) throw error;
        await pause(Math.min(error.retryAfter || 1, 5) * 1000, signal);
      } catch (error) {
        if (signal?.aborted) throw error;
        if (error instanceof ApiError) {
          if (error.status === 401) this.onRefused(error);
          throw error;
        }
        if (method !== 'GET' || round >= REPEATS) {
          throw new ApiError(0, { code: 'no_answer', message: 'the server could not be reached; nothing that you wrote is lost' });
        }
        await pause(400 * (round + 1), signal);
      }
    }
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {Options} [options]
   * @returns {Promise<any>}
   */
  async json(method, path, options) {
    const response = await this.send(method, path, options);
    return response.status === 204 || response.status === 202 && !response.headers.get('content-type') ? null : response.json();
  }

  /** @param {string} path @param {Record<string, unknown>} [query] @param {AbortSignal} [signal] */
  get(path, query, signal) {
    return this.json('GET', path, { query, signal });
  }

  /** Deletes something. If it is gone already, that is done. @param {string} path @param {string} key */
  async remove(path, key) {
    try {
      await this.json('DELETE', path, { key });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  }

  /**
   * All items of a list, up to a number.
   * @param {string} path
   * @param {Record<string, unknown>} [query]
   * @param {{most?: number, signal?: AbortSignal}} [options]
   */
  async all(path, query = {}, { most = 1000, signal } = {}) {
    /** @type {any[]} */
    const items = [];
    let cursor;
    do {
      const page = await this.get(path, { page_size: 100, ...query, cursor }, signal);
      items.push(...page.data);
      cursor = page.has_more ? page.next_cursor : undefined;
    } while (cursor && items.length < most);
    return items;
  }

  /**
   * Sends a message and reads the reply as it is written.
   * @param {object} body
   * @param {{key: string, signal: AbortSignal, onToken: (text: string) => void}} options
   * @returns {Promise<{conversation_id: string, n: number | null, sources_used: any[]}>}
   */
  async stream(body, { key, signal, onToken }) {
    const response = await this.send('POST', 'v1/conversations', { body: { ...body, stream: true }, key, signal, accept: 'text/event-stream' });
    for await (const { event, data } of events(response)) {
      if (event === 'token') onToken(data.content);
      if (event === 'done') return data;
      if (event === 'error') throw new ApiError(200, data);
    }
    throw new ApiError(0, { code: 'no_answer', message: 'the reply ended early; send the message again to get the whole reply' });
  }
}

/** @param {Response} response */
async function refusal(response) {
  const detail = await response.json().then((body) => body.error, () => null);
  const after = Number(response.headers.get('retry-after')) || undefined;
  const fallback = { message: `the server answered with status ${response.status}` };
  return new ApiError(response.status, { retry_after: after, ...(detail && typeof detail === 'object' ? detail : fallback) });
}

/**
 * The Server-Sent Events of a response.
 * @param {Response} response
 */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((error) => {
        // The connection was lost.
        if (error instanceof TypeError) return { value: '', done: true };
        throw error;
      });
      if (done) return;
      rest += value;
      let end;
      while ((end = rest.indexOf('\n\n')) >= 0) {
        const block = rest.slice(0, end);
        rest = rest.slice(end + 2);
        const field = (name) => block.split('\n').filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trimStart());
        const data = field('data').join('\n');
        if (data) yield { event: field('event')[0] || 'message', data: JSON.parse(data) };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** @param {number} milliseconds @param {AbortSignal} [signal] */
export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}
