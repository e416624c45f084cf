import {
  apiError,
  CiceroneError,
  ConnectionFailedError,
  RequestTimeoutError,
  SourceFailedError,
} from "./errors.js";
import { Listing, type ListPage } from "./listing.js";
import { newKey, pause, queryString, segment, sleep, Watch } from "./requests.js";
import { Decoder, type ReplyEvent } from "./stream.js";
import type { SendMessage, Source } from "./types.js";

export interface ClientOptions {
  /** The API key; by default that of the environment variable CICERONE_API_KEY. */
  apiKey?: string;
  /** The address of the server; `http://127.0.0.1:8080` by default. */
  baseUrl?: string;
  /** The longest wait for a response, or for the next part of a stream; 120,000 by default. */
  timeoutMs?: number;
  /** How often a request is repeated at most; 2 by default. */
  maxRetries?: number;
  /** Another implementation of `fetch`. */
  fetch?: typeof fetch;
}

/** Options of one request. */
export interface Options {
  /** By default every request that changes something has a new one. */
  idempotencyKey?: string;
  signal?: AbortSignal;
  timeoutMs?: number;
}

interface Content {
  body?: object;
  file?: { file: Blob; filename: string | undefined };
  query?: object;
  isKeyed?: boolean;
}

/** The connection of `Cicerone`. */
export class Client {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #timeoutMs: number;
  readonly #maxRetries: number;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions = {}) {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
    const key = options.apiKey ?? process?.env?.["CICERONE_API_KEY"];
    if (!key) throw new CiceroneError("there is no API key: pass `apiKey` or set CICERONE_API_KEY");
    this.#apiKey = key;
    this.#baseUrl = (options.baseUrl ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
    this.#timeoutMs = options.timeoutMs ?? 120_000;
    this.#maxRetries = options.maxRetries ?? 2;
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
  }

  /**
   * Send a message, and give the reply in parts: `token` events, then `done`. Throws a `StreamError` if
   * the reply fails or the connection ends before `done`.
   */
  async *streamMessage(body: SendMessage, options: Options = {}): AsyncGenerator<ReplyEvent, void, undefined> {
    const key = options.idempotencyKey ?? newKey();
    const decoder = new Decoder(key);
    const content = { body: { ...body, stream: true }, isKeyed: true };
    const given = { ...options, idempotencyKey: key };
    const { watch, reader } = await this.#send("POST", "/v1/conversations", content, given, async (response, watch) => ({
      watch,
      reader: response.body?.getReader(),
    }));
    try {
      for (;;) {
        watch.start();
        const piece = await reader?.read();
        watch.halt();
        if (!piece || piece.done) break;
        for (const event of decoder.feed(piece.value)) {
          yield event;
          if (event.event === "done") return;
        }
      }
    } catch (cause) {
      if (cause instanceof CiceroneError) throw cause;
      options.signal?.throwIfAborted();
      throw decoder.broken(cause);
    } finally {
      watch.end();
      await reader?.cancel().catch(() => undefined);
    }
    throw decoder.broken();
  }

  /** Wait until a source is trained. Throws a `SourceFailedError`, or a `CiceroneError` after `waitMs`. */
  async waitForSource(source_id: string, waitMs = 300_000, options: Options = {}): Promise<Source> {
    const deadline = Date.now() + waitMs;
    for (;;) {
      const source = await this.call<Source>("GET", `/v1/sources/${segment(source_id)}`, {}, options);
      if (source.status === "trained") return source;
      if (source.status === "failed") throw new SourceFailedError(source);
      if (Date.now() >= deadline) throw new CiceroneError(`source ${source_id} is not trained after ${waitMs} ms`);
      await sleep(500, options.signal);
    }
  }

  protected call<T>(method: string, path: string, content: Content, options: Options = {}): Promise<T> {
    return this.#send(method, path, content, options, async (response, watch) => {
      const text = await response.text();
      watch.end();
      if (response.status === 204) return undefined as T;
      const body = parsed(text);
      if (body === undefined) throw apiError(response.status, response.headers, body);
      return body as T;
    });
  }

  protected list<T>(path: string, query: { cursor?: string }, options: Options = {}): Listing<T> {
    const fetchPage = (cursor: string | undefined) =>
      this.call<ListPage<T>>("GET", path, { query: { ...query, cursor } }, options);
    return new Listing(fetchPage, query.cursor);
  }

  async #send<T>(
    method: string,
    path: string,
    content: Content,
    options: Options,
    read: (response: Response, watch: Watch) => Promise<T>,
  ): Promise<T> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#apiKey}` };
    if (content.isKeyed) headers["idempotency-key"] = options.idempotencyKey ?? newKey();
    let body: BodyInit | null = null;
    if (content.file) {
      body = new FormData();
      const name = content.file.filename ?? (content.file.file as Partial<File>).name ?? "file";
      body.append("file", content.file.file, name);
    } else if (content.body) {
      headers["content-type"] = "application/json";
      body = JSON.stringify(content.body);
    }
    for (let attempt = 0; ; attempt++) {
      const watch = new Watch(options.timeoutMs ?? this.#timeoutMs, options.signal);
      let error: CiceroneError;
      try {
        watch.start();
        const request = { method, headers, body, signal: watch.signal, redirect: "error" as const };
        const response = await this.#fetch(this.#baseUrl + path + queryString(content.query ?? {}), request);
        if (response.ok) return await read(response, watch);
        error = apiError(response.status, response.headers, parsed(await response.text()));
      } catch (cause) {
        watch.end();
        if (cause instanceof CiceroneError) throw cause;
        options.signal?.throwIfAborted();
        const kind = watch.isExpired ? RequestTimeoutError : ConnectionFailedError;
        error = new kind(`${method} ${path}: ${watch.isExpired ? "no response in time" : String(cause)}`, { cause });
      }
      watch.end();
      const ms = attempt < this.#maxRetries ? pause(error, attempt) : undefined;
      if (ms === undefined) throw error;
      await sleep(ms, options.signal);
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
