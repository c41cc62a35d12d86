import type { components } from './api.gen';

export type Problem = components['schemas']['Problem'];
export type FieldProblem = NonNullable<Problem['errors']>[number];
export type ProblemCode = Problem['code'];

/** ProblemError is a response that is not 2xx. Its message is the problem's detail, which is written for people. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(
    readonly problem: Problem,
    /** Seconds that the service asks to wait; null if it does not. */
    readonly retryAfter: number | null = null,
  ) {
    super(problem.detail);
  }

  get status(): number {
    return this.problem.status;
  }

  get code(): ProblemCode {
    return this.problem.code;
  }

  get requestId(): string {
    return this.problem.request_id;
  }

  /** The invalid parts of the request, by JSON pointer ("/email") or else by parameter name ("sort"). */
  get fields(): ReadonlyMap<string, FieldProblem[]> {
    const all = new Map<string, FieldProblem[]>();
    for (const field of this.problem.errors ?? []) {
      const key = field.pointer ?? field.parameter ?? '';
      all.set(key, [...(all.get(key) ?? []), field]);
    }
    return all;
  }

  /** at returns what is wrong with the part of the body at pointer, or undefined. */
  at(pointer: string): string | undefined {
    return this.fields
      .get(pointer)
      ?.map((f) => f.detail)
      .join(' ');
  }
}

/** NetworkError means that no response arrived. The request may or may not have taken effect. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';

  constructor(cause: unknown) {
    super('The server cannot be reached.', { cause });
  }
}

export function isProblem(error: unknown, code?: ProblemCode): error is ProblemError {
  return error instanceof ProblemError && (code === undefined || error.code === code);
}

/** readProblem returns the error of a response that is not 2xx. A proxy's page becomes a problem of the same status. */
export async function readProblem(response: Response): Promise<ProblemError> {
  const retryAfter = secondsOf(response.headers.get('Retry-After'));
  if (response.headers.get('Content-Type')?.startsWith('application/problem+json')) {
    try {
      return new ProblemError((await response.json()) as Problem, retryAfter);
    } catch {
      // A truncated body is as good as none.
    }
  }
  const busy = response.status >= 502 && response.status <= 504;
  return new ProblemError(
    {
      type: 'about:blank',
      title: response.statusText || `Status ${response.status}`,
      status: response.status,
      detail: busy ? 'The service is not available at the moment.' : `The server sent status ${response.status}.`,
      instance: '',
      code: busy ? 'unavailable' : 'internal',
      request_id: response.headers.get('X-Request-Id') ?? '',
    },
    retryAfter,
  );
}

function secondsOf(header: string | null): number | null {
  if (header === null) return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
