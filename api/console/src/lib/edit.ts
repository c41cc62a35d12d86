import type { Answer } from './api';
import { type ProblemError, isProblem } from './problem';

type Fields = Record<string, unknown>;

/** StaleError means that somebody else changed the same fields in the meantime. It has both versions. */
export class StaleError<T> extends Error {
  override readonly name = 'StaleError';

  constructor(
    /** What the person wanted to save. */
    readonly mine: Fields,
    /** What is stored now. */
    readonly theirs: Answer<T>,
    /** The fields that both changed. */
    readonly conflicts: string[],
    readonly problem: ProblemError,
  ) {
    super(problem.message);
  }
}

/**
 * saveEdit sends changes for the version base of a resource. If somebody has edited it since, it reads the stored
 * version: where no field was changed by both, the changes are sent again for that version; else it throws a
 * StaleError. Sending StaleError.theirs as base keeps the person's own values.
 */
export async function saveEdit<T extends Fields>(
  base: Answer<T>,
  changes: Fields,
  call: {
    patch: (changes: Fields, etag: string | null) => Promise<Answer<T>>;
    get: () => Promise<Answer<T>>;
  },
): Promise<Answer<T>> {
  for (let version = base, attempt = 0; ; attempt++) {
    try {
      return await call.patch(changes, version.etag);
    } catch (error) {
      if (!isProblem(error, 'precondition_failed')) throw error;
      const theirs = await call.get();
      const conflicts = Object.keys(changes).filter((name) => !isSame(version.data[name], theirs.data[name]));
      if (conflicts.length > 0 || attempt > 3) throw new StaleError(changes, theirs, conflicts, error);
      version = theirs;
    }
  }
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
