export type { ClientOptions, Options } from "./client.js";
export * from "./errors.js";
export { Listing, type ListPage } from "./listing.js";
export { Cicerone } from "./operations.js";
export type { Done, ReplyEvent, Token } from "./stream.js";
export type * from "./types.js";
