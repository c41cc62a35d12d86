import { NetworkError, isProblem } from './problem';
import { randomId } from './random';

/**
 * Submission gives the Idempotency-Key of a form. Sending the same content again, after a lost connection or a busy
 * service, repeats the key, so that it takes effect once. Other content, or the next submission, has another key.
 */
export class Submission {
  #key: string | null = null;
  #content = '';

  /** run calls send with the key for content, and forgets the key once the result is known. */
  async run<T>(content: unknown, send: (key: string) => Promise<T>): Promise<T> {
    const text = JSON.stringify(content);
    if (this.#key === null || text !== this.#content) this.#key = randomId();
    this.#content = text;
    try {
      const result = await send(this.#key);
      this.#key = null;
      return result;
    } catch (error) {
      if (!isUndecided(error)) this.#key = null;
      throw error;
    }
  }
}

/** isUndecided reports whether a request that failed may still have taken or may still take effect. */
function isUndecided(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  return isProblem(error) && (error.status >= 500 || error.status === 408 || error.code === 'idempotency_in_flight');
}
