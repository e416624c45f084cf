import { CiceroneError } from "./errors.js";

/** One page of a list. */
export interface ListPage<T> {
  data: T[];
  has_more: boolean;
  next_cursor: string | null;
}

/** The items of a list. Iterating over them requests a page when it is needed. */
export class Listing<T> implements AsyncIterable<T> {
  constructor(
    private readonly fetchPage: (cursor: string | undefined) => Promise<ListPage<T>>,
    private readonly first: string | undefined,
  ) {}

  /** The pages, from the beginning or from the `cursor` of the query. */
  async *pages(): AsyncGenerator<ListPage<T>, void, undefined> {
    let cursor = this.first;
    for (;;) {
      const page = await this.fetchPage(cursor);
      yield page;
      if (!page.has_more || page.next_cursor === null) return;
      if (page.next_cursor === cursor) throw new CiceroneError(`the cursor \`${cursor}\` leads to itself`);
      cursor = page.next_cursor;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}
