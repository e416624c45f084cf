/** The public API of one widget: credentials of the visitor, refusals, and replies as they are written. */

/** A refusal of the server, or a request without an answer (`status` 0). @param {number} status @param {{code?: string, message?: string}} [detail] */
const refusal = (status, { code, message } = {}) => Object.assign(new Error(message), { status, code });

export class Service {
  /** @param {string} base The address of the server, with a slash at its end. @param {string} token */
  constructor(base, token) {
    this.base = `${base}w/${token}`;
    this.place = `cicerone-${token}`;
    /** The signed identity that the page gave. @type {string | null} */
    this.identity = null;
    /** The anonymous credential. @type {string | null} */
    this.visitor = null;
  }

  /** The credential that this page, or another one of the site, has kept. */
  stored() {
    try {
      return localStorage[this.place];
    } catch {
      // Without storage, the visitor is known until the page is left.
    }
  }

  /** The credential of the visitor, if there can be conversations. Another page of the site may have got it meanwhile. */
  get credential() {
    return this.identity || (this.visitor ||= this.stored());
  }

  /** @param {string | null} visitor */
  keep(visitor) {
    this.visitor = visitor;
    try {
      if (visitor) localStorage[this.place] = visitor;
      else delete localStorage[this.place];
    } catch {
      // As above.
    }
  }

  /**
   * Sends a request without a credential, or with this one.
   * @param {string} method @param {string} path @param {unknown} [body] @param {string | null} [credential]
   */
  async send(method, path, body, credential) {
    /** @type {Record<string, string>} */
    const headers = {};
    if (body) headers['Content-Type'] = 'application/json';
    if (credential) headers.Authorization = `Bearer ${credential}`;
    const response = await fetch(this.base + path, { method, headers, body: body ? JSON.stringify(body) : undefined, credentials: 'omit', referrerPolicy: 'no-referrer' }).catch(() => {
      throw refusal(0);
    });
    if (response.ok) return response;
    throw refusal(response.status, (await response.json().catch(() => ({}))).error);
  }

  /** Sends a request as the visitor, who gets a credential if there is none yet. @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<Response>} */
  async call(method, path, body) {
    const used = this.credential;
    if (!used) {
      const { credential } = await (await this.send('POST', '/visitors')).json();
      this.keep(this.stored() || credential);
      return this.call(method, path, body);
    }
    try {
      return await this.send(method, path, body, used);
    } catch (error) {
      // An anonymous credential of another installation, or of before its secret was changed.
      if (error.status === 401 && used === this.visitor) this.keep(null);
      throw error;
    }
  }

  /** Conversations, or one of them. @param {string} path @returns {Promise<any>} */
  async read(path) {
    return (await this.call('GET', `/conversations${path}`)).json();
  }

  /** Asks, and gives each piece of the reply to `onToken`. @param {object} body @param {(piece: string) => void} onToken @returns {Promise<any>} */
  async ask(body, onToken) {
    const response = await this.call('POST', '/messages', { ...body, stream: true });
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = '';
    for (;;) {
      const { value } = await reader.read().catch(() => ({}));
      if (!value) throw refusal(0, { code: 'broken' });
      const events = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = events.pop();
      for (const each of events) {
        const [, event, data] = /^event: (.*)\ndata: (.*)/m.exec(each) || [];
        if (!data) continue;
        const detail = JSON.parse(data);
        if (event === 'token') onToken(detail.content);
        if (event === 'done') return detail;
        if (event === 'error') throw refusal(200, detail);
      }
    }
  }
}
