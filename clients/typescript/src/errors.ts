import type { Finding, Source } from "./types.js";

/** Every error of this package. */
export class CiceroneError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No complete response arrived. */
export class ConnectionFailedError extends CiceroneError {}

/** The server was silent for longer than `timeoutMs`. */
export class RequestTimeoutError extends ConnectionFailedError {}

/** A reply ended early. Sending the message again with `idempotencyKey` does not store it twice. */
export class StreamError extends CiceroneError {
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly retryable: boolean;

  constructor(
    message: string,
    readonly idempotencyKey: string,
    event: { code?: string; request_id?: string; retryable?: boolean } = {},
    cause?: unknown,
  ) {
    super(message, { cause });
    this.code = event.code;
    this.requestId = event.request_id;
    this.retryable = event.retryable ?? true;
  }
}

/** A source could not be read; `source.error_message` says why. */
export class SourceFailedError extends CiceroneError {
  constructor(readonly source: Source) {
    super(`source ${source.id} failed: ${source.error_message}`);
  }
}

interface Detail {
  code?: string;
  message?: string;
  param?: string;
  request_id?: string;
  errors?: Finding[];
}

/** The server refused the request. Programs branch on `code`; the message is for people. */
export class ApiError extends CiceroneError {
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  /** All bad fields of the request; empty unless the status is 400 or 422. */
  readonly errors: Finding[];

  constructor(
    readonly status: number,
    readonly headers: Headers,
    body: unknown,
  ) {
    const found = (body as { error?: unknown } | null | undefined)?.error;
    const detail: Detail = typeof found === "object" && found !== null ? found : {};
    const id = detail.request_id ?? headers.get("x-request-id") ?? undefined;
    const text = detail.message ?? "the response is not one of Cicerone's";
    super(`${status}${detail.code ? ` ${detail.code}` : ""}: ${text} (${id})`);
    this.code = detail.code;
    this.param = detail.param;
    this.requestId = id;
    this.errors = detail.errors ?? [];
  }
}

/** 400: `param` names the field. */
export class BadRequestError extends ApiError {}
/** 401: the API key is missing, unknown or expired. */
export class AuthenticationError extends ApiError {}
/** 403: the API key lacks a permission. */
export class PermissionDeniedError extends ApiError {}
/** 404: the object does not exist, or is not visible to the API key. */
export class NotFoundError extends ApiError {}
/** 409: the state of the object forbids it. */
export class ConflictError extends ApiError {}
/** 422: `errors` lists every fault of the content. */
export class ValidationError extends ApiError {}
/** 429: a rate limit, or the account's quota if `code` is `quota_exceeded`. */
export class RateLimitError extends ApiError {}
/** 5xx: the server failed or is overloaded. */
export class ServerError extends ApiError {}

const CLASSES: Record<number, typeof ApiError> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: ValidationError,
  429: RateLimitError,
};

/** The error of a response that is not a success. */
export function apiError(status: number, headers: Headers, body: unknown): ApiError {
  const kind = status >= 500 ? ServerError : (CLASSES[status] ?? ApiError);
  return new kind(status, headers, body);
}
