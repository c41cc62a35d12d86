/** One page of a list, as the API answers it. */
export interface Page<T> {
  data: T[];
  has_more: boolean;
  next_cursor: string | null;
  total?: number;
}

export interface PagesState<T> {
  /** row returns the row at index, or undefined while it is not loaded. */
  row: (index: number) => T | undefined;
  /** The known rows, loaded or not. If there are more, one further row stands for them. */
  length: number;
  /** Every page is known, so length is the number of rows. */
  complete: boolean;
  total: number | null;
  /** Nothing has been loaded yet. */
  pending: boolean;
  error: unknown;
}

export interface PagesOptions<T> {
  /** Loads the page after cursor; the first one for null. */
  load: (cursor: string | null, signal: AbortSignal) => Promise<Page<T>>;
  /** Pages that are kept; those farthest from the rows that are shown are dropped and loaded again when needed. */
  keep?: number;
}

interface Slot<T> {
  cursor: string | null;
  /** The first row's index. */
  start: number;
  size: number;
  rows: T[] | null;
}

const defaultKeep = 20;

/**
 * Pages is a window over a list with cursors, however long: show(first, last) loads what those rows need. A page is
 * reached through the cursor of the page before it, so pages load one after another; the cursors of dropped pages are
 * kept, so that scrolling back needs one request.
 */
export class Pages<T> {
  #slots: Slot<T>[] = [{ cursor: null, start: 0, size: 0, rows: null }];
  #end = false;
  #total: number | null = null;
  #error: unknown = null;
  #first = 0;
  #last = 0;
  #work: AbortController | null = null;
  #stale = false;
  #state: PagesState<T>;
  readonly #listeners = new Set<() => void>();

  constructor(private readonly options: PagesOptions<T>) {
    this.#state = this.#snapshot();
  }

  readonly get = (): PagesState<T> => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#stale) void this.#run();
    return () => this.#listeners.delete(listener);
  };

  /** show loads the pages of the rows first to last. */
  show(first: number, last: number): void {
    this.#first = first;
    this.#last = Math.max(first, last);
    this.#error = null;
    void this.#run();
  }

  /**
   * refresh reads the shown pages again, one after another since their limits may have moved, and forgets the cursors
   * of the pages behind them. Rows stay until the new ones are there. Without a subscriber it waits for one.
   */
  refresh(): void {
    this.#stale = true;
    this.#work?.abort();
    this.#work = null;
    if (this.#listeners.size > 0) void this.#run();
  }

  /** retry loads again what failed. */
  retry(): void {
    this.#error = null;
    void this.#run();
  }

  /** change replaces the loaded rows by what edit returns: null removes a row, undefined leaves it. */
  change(edit: (row: T) => T | null | undefined): void {
    for (const slot of this.#slots) {
      slot.rows =
        slot.rows?.flatMap((row) => {
          const to = edit(row);
          return to === undefined ? [row] : to === null ? [] : [to];
        }) ?? null;
    }
    this.#measure();
    this.#publish();
  }

  async #run(): Promise<void> {
    if (this.#work !== null || this.#error !== null) return;
    const work = new AbortController();
    this.#work = work;
    try {
      if (this.#stale) await this.#reload(work.signal);
      for (let at = this.#missing(); at >= 0; at = this.#missing()) {
        await this.#fill(at, work.signal);
        this.#drop();
        this.#publish();
      }
    } catch (error) {
      if (work.signal.aborted) return;
      this.#error = error;
      this.#publish();
    } finally {
      if (this.#work === work) this.#work = null;
    }
  }

  /** Returns the first page that the shown rows need, or -1. One page ahead is loaded before it is reached. */
  #missing(): number {
    const tail = this.#slots.length - 1;
    for (let at = slotAt(this.#slots, this.#first); at <= tail; at++) {
      const slot = this.#slots[at]!;
      if (slot.rows === null) return slot.start <= this.#last + this.#ahead() ? at : -1;
      if (slot.start + slot.size > this.#last + this.#ahead()) return -1;
    }
    return -1;
  }

  #ahead(): number {
    return Math.ceil((this.#slots[0]?.size ?? 0) / 2);
  }

  async #fill(at: number, signal: AbortSignal): Promise<void> {
    const slot = this.#slots[at]!;
    const page = await this.options.load(slot.cursor, signal);
    signal.throwIfAborted();
    slot.rows = page.data;
    if (page.total !== undefined) this.#total = page.total;
    const next = this.#slots[at + 1];
    if (!page.has_more || page.next_cursor === null) {
      this.#slots.length = at + 1;
      this.#end = true;
    } else if (next === undefined) {
      this.#slots.push({ cursor: page.next_cursor, start: 0, size: 0, rows: null });
      this.#end = false;
    } else if (next.cursor !== page.next_cursor) {
      // The list has changed before the next page, so the old one would repeat or leave out rows.
      this.#slots.length = at + 2;
      this.#slots[at + 1] = { ...next, cursor: page.next_cursor, rows: null };
      this.#end = false;
    }
    this.#measure();
  }

  async #reload(signal: AbortSignal): Promise<void> {
    const from = slotAt(this.#slots, this.#first);
    const to = slotAt(this.#slots, this.#last);
    for (let at = from; at <= to && at < this.#slots.length; at++) {
      const behind = this.#slots[at + 1]?.rows ?? null;
      await this.#fill(at, signal);
      // Until its turn comes, the next page shows its old rows.
      const next = this.#slots[at + 1];
      if (next !== undefined && next.rows === null && at < to) next.rows = behind;
      this.#measure();
      this.#publish();
    }
    // Pages that were not read again show what may be old, so they are loaded when they are reached.
    this.#slots.forEach((slot, at) => {
      if (at < from || at > to) slot.rows = null;
    });
    this.#stale = false;
    this.#publish();
  }

  #measure(): void {
    let start = 0;
    for (const slot of this.#slots) {
      slot.start = start;
      if (slot.rows !== null) slot.size = slot.rows.length;
      start += slot.size;
    }
  }

  #drop(): void {
    const keep = this.options.keep ?? defaultKeep;
    const middle = slotAt(this.#slots, (this.#first + this.#last) / 2);
    const loaded = this.#slots.flatMap((slot, at) => (slot.rows === null ? [] : [at]));
    loaded.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    for (const at of loaded.slice(keep)) this.#slots[at]!.rows = null;
  }

  #snapshot(): PagesState<T> {
    const slots = this.#slots.map((slot) => ({ ...slot }));
    const last = slots[slots.length - 1]!;
    const known = last.start + last.size;
    return {
      row: (index) => {
        const slot = slots[slotAt(slots, index)]!;
        return slot.rows?.[index - slot.start];
      },
      length: this.#end ? known : known + 1,
      complete: this.#end,
      total: this.#total,
      pending: slots.length === 1 && slots[0]!.rows === null,
      error: this.#error,
    };
  }

  #publish(): void {
    this.#state = this.#snapshot();
    for (const listener of [...this.#listeners]) listener();
  }
}

/** slotAt returns the position of the last slot that starts at or before the row index. */
function slotAt(slots: readonly { start: number }[], index: number): number {
  let low = 0;
  let high = slots.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (slots[middle]!.start <= index) low = middle;
    else high = middle - 1;
  }
  return low;
}
