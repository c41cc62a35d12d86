import { NetworkError, type ProblemError, isProblem } from './problem';

const longestWait = 30_000;
const attempts = 5;

/** backoff returns a random delay in milliseconds that grows with attempt (0, 1, ...): full jitter up to 30 s. */
export function backoff(attempt: number, random = Math.random): number {
  return Math.round(random() * Math.min(longestWait, 500 * 2 ** attempt)) + 100;
}

/**
 * retryDelay returns how long to wait before a call that failed with 503 is sent again, or null if it must not be.
 * Only unavailable passes by itself; a part that is not configured or a provider that is away does not.
 */
export function retryDelay(problem: ProblemError, attempt: number): number | null {
  if (problem.code !== 'unavailable' || attempt >= attempts) return null;
  if (problem.retryAfter === null) return backoff(attempt);
  return problem.retryAfter * 1000 <= longestWait ? problem.retryAfter * 1000 + backoff(0) : null;
}

/** shouldRetryRead is the rule of reads, beside that of the calls: a lost connection, and 429 after its wait. */
export function shouldRetryRead(failures: number, error: unknown): boolean {
  if (error instanceof NetworkError) return true; // paused by the query client until the server is reached
  return (
    isProblem(error) && error.status === 429 && error.retryAfter !== null && error.retryAfter <= 60 && failures < 3
  );
}

/** readRetryDelay returns the delay before a read that shouldRetryRead accepted is sent again. */
export function readRetryDelay(failures: number, error: unknown): number {
  if (isProblem(error) && error.retryAfter !== null) return error.retryAfter * 1000 + backoff(0);
  return backoff(failures);
}
