import { ApiError, type CiceroneError } from "./errors.js";

/** A request is not repeated if the server asks for a longer pause. */
const LONGEST_PAUSE_MS = 60_000;

/** A new idempotency key: a request that carries it takes effect once, however often it is sent. */
export function newKey(): string {
  // `crypto.randomUUID` does not exist on pages that are served by http.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** One segment of a path. No text becomes two of them, or another route. */
export function segment(value: string | number): string {
  const text = encodeURIComponent(value);
  if (text === "" || text === "." || text === "..") throw new TypeError(`"${value}" is not an id`);
  return text;
}

/** Parameters without those that are not given; a list is given once for each item. */
export function queryString(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const item of [value].flat()) parameters.append(name, String(item));
  }
  return parameters.size === 0 ? "" : `?${parameters}`;
}

/** Milliseconds until the next attempt; `undefined` if the request must not be repeated. */
export function pause(error: CiceroneError, attempt: number): number | undefined {
  // Half a second that doubles, at most 8, varied so that clients do not return together.
  const usual = Math.min(500 * 2 ** attempt, 8_000) * (0.75 + Math.random() / 4);
  if (!(error instanceof ApiError)) return usual;
  const after = retryAfter(error.headers.get("retry-after"));
  const isPassing =
    [408, 429].includes(error.status) || error.status >= 500 || (error.status === 409 && after !== undefined);
  if (!isPassing || error.headers.get("x-should-retry") === "false") return undefined;
  if (after === undefined) return usual;
  return after <= LONGEST_PAUSE_MS ? after : undefined;
}

function retryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Ends an attempt after a silence, or if the caller's signal says so. */
export class Watch {
  readonly #controller = new AbortController();
  readonly #abort = () => this.#controller.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;
  isExpired = false;

  constructor(
    private readonly ms: number,
    private readonly outer: AbortSignal | undefined,
  ) {
    outer?.addEventListener("abort", this.#abort);
    if (outer?.aborted) this.#abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The silence begins now. */
  start(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.isExpired = true;
      this.#abort();
    }, this.ms);
  }

  /** There is no silence: the caller is at work. */
  halt(): void {
    clearTimeout(this.#timer);
  }

  /** The attempt has ended. */
  end(): void {
    this.halt();
    this.outer?.removeEventListener("abort", this.#abort);
  }
}

/** Waits, unless the caller's signal ends it. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
  });
}
