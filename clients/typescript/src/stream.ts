import { StreamError } from "./errors.js";
import type { DoneEvent, TokenEvent } from "./types.js";

/** The next part of the reply. */
export type Token = { event: "token" } & TokenEvent;
/** The reply is complete and stored. */
export type Done = { event: "done" } & DoneEvent;
export type ReplyEvent = Token | Done;

/** Server-Sent Events from pieces of bytes. Lines end with LF or CRLF. */
export class Decoder {
  readonly #text = new TextDecoder();
  #rest = "";
  #name = "";
  #data: string[] = [];

  constructor(private readonly key: string) {}

  /** The events that are complete with this piece. Events of unknown names are left out. */
  *feed(piece: Uint8Array): Generator<ReplyEvent> {
    const lines = (this.#rest + this.#text.decode(piece, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const ended of lines) {
      const line = ended.endsWith("\r") ? ended.slice(0, -1) : ended;
      const [, field, value = ""] = /^([^:]*):? ?([^]*)$/.exec(line) ?? [];
      if (field === "event") this.#name = value;
      else if (field === "data") this.#data.push(value);
      else if (line === "") {
        const [name, data] = [this.#name, this.#data.join("\n")];
        [this.#name, this.#data] = ["", []];
        if (["token", "done", "error"].includes(name)) yield this.#event(name, data);
      }
    }
  }

  #event(event: string, data: string): ReplyEvent {
    let fields: unknown;
    try {
      fields = JSON.parse(data);
    } catch {
      // Reported below.
    }
    if (typeof fields !== "object" || fields === null) {
      throw new StreamError(`the event \`${event}\` is not a JSON object`, this.key);
    }
    if (event === "error") {
      const { message } = fields as { message?: string };
      throw new StreamError(`the reply failed: ${message}`, this.key, fields);
    }
    return { ...fields, event } as ReplyEvent;
  }

  /** The error of a stream that ends without `done`. */
  broken(cause?: unknown): StreamError {
    return new StreamError("the connection ended before the reply was complete", this.key, {}, cause);
  }
}
