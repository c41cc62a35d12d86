import type { CallOptions, Method, PathOf, Rest, Result, Target } from './operations';
import { NetworkError, type ProblemError, readProblem } from './problem';
import { retryDelay } from './retry';

/** A successful response. */
export interface Answer<T> {
  data: T;
  status: number;
  etag: string | null;
  location: string | null;
  requestId: string;
  /** The body as it came, without the line end after it; only with keepText. */
  text?: string;
}

/** The credential of the calls. */
export interface Credentials {
  /** Returns a token that is valid for some seconds more, or null if nobody is signed in. */
  token(own: boolean): Promise<string | null>;
  /** The service refused token with problem. Resolves true if the call is to be sent again, with the next token. */
  refused(token: string, problem: ProblemError): Promise<boolean>;
  /** The service refused a right, so what is known of the user's role may be old. */
  forbidden(): void;
}

/** Hears whether requests get a response. */
export interface Reachability {
  reached(): void;
  lost(): void;
}

export interface ApiDeps {
  fetch: typeof fetch;
  credentials: Credentials;
  reachability: Reachability;
  /** Waits for milliseconds, or rejects when the signal is aborted. */
  wait: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** The operations that use the sign-in cookie. The header keeps other sites from calling them. */
const cookiePaths = '/api/v1/auth/console/';

type Call<M extends Method> = <P extends PathOf<M>>(path: P, ...rest: Rest<M, P>) => Promise<Answer<Result<M, P>>>;

/** The API. Each call throws a ProblemError or a NetworkError, or the reason of its signal. */
export type Api = { [M in Method]: Call<M> } & {
  /** Like get, for code that reads any path: target is what names the resource. */
  read: <P extends PathOf<'get'>>(
    path: P,
    target: Target<P> | undefined,
    signal: AbortSignal,
  ) => Promise<Answer<Result<'get', P>>>;
};

interface Loose {
  path?: Record<string, string | number>;
  query?: Record<string, unknown>;
  body?: unknown;
}

export function createApi(deps: ApiDeps): Api {
  const method =
    <M extends Method>(verb: M): Call<M> =>
    (path, ...[options]) =>
      send(deps, verb, path, (options ?? {}) as CallOptions & Loose);
  return {
    get: method('get'),
    post: method('post'),
    put: method('put'),
    patch: method('patch'),
    delete: method('delete'),
    read: (path, target, signal) => send(deps, 'get', path, { ...(target as Loose | undefined), signal }),
  };
}

async function send<M extends Method, P extends PathOf<M>>(
  deps: ApiDeps,
  verb: M,
  path: P,
  options: CallOptions & Loose,
): Promise<Answer<Result<M, P>>> {
  const url = address(path, options);
  // A POST or PATCH may be repeated only if its key keeps it from taking effect twice.
  const repeatable =
    (verb !== 'post' && verb !== 'patch') || options.idempotencyKey !== undefined || options.repeatable === true;
  for (let attempt = 0, refusals = 0; ;) {
    const token = options.credential === 'none' ? null : await deps.credentials.token(options.credential === 'own');
    const response = await answer(deps, url, request(verb, path, options, token));
    if (response.ok) return (await read(response, options.keepText)) as Answer<Result<M, P>>;
    const problem = await readProblem(response);
    if (problem.status === 401 && token !== null && refusals++ < 3) {
      if (await deps.credentials.refused(token, problem)) continue;
    }
    if (problem.code === 'forbidden') deps.credentials.forbidden();
    const delay = problem.status === 503 && repeatable ? retryDelay(problem, attempt) : null;
    if (delay === null) throw problem;
    attempt++;
    await deps.wait(delay, options.signal);
  }
}

async function answer(deps: ApiDeps, url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await deps.fetch(url, init);
    deps.reachability.reached();
    return response;
  } catch (error) {
    if (init.signal?.aborted) throw error;
    deps.reachability.lost();
    throw new NetworkError(error);
  }
}

function request(verb: Method, path: string, options: CallOptions & Loose, token: string | null): RequestInit {
  const headers = new Headers({ Accept: 'application/json' });
  if (path.startsWith(cookiePaths)) headers.set('X-Funnelwork-Console', '1');
  if (token !== null) headers.set('Authorization', `Bearer ${token}`);
  if (options.ifMatch) headers.set('If-Match', options.ifMatch);
  if (options.idempotencyKey) headers.set('Idempotency-Key', options.idempotencyKey);
  const init: RequestInit = { method: verb.toUpperCase(), headers, signal: options.signal ?? null };
  if (options.body instanceof FormData || options.body instanceof Blob) {
    init.body = options.body; // the browser sets the media type
  } else if (options.body !== undefined) {
    headers.set('Content-Type', 'application/json');
    init.body = JSON.stringify(options.body);
  }
  return init;
}

async function read(response: Response, keepText = false): Promise<Answer<unknown>> {
  const text = await response.text();
  return {
    data: text === '' ? undefined : (JSON.parse(text) as unknown),
    status: response.status,
    etag: response.headers.get('ETag'),
    location: response.headers.get('Location'),
    requestId: response.headers.get('X-Request-Id') ?? '',
    ...(keepText && { text: text.replace(/\n$/, '') }),
  };
}

/** address returns path with its parameters and query filled in. Query values that are undefined or "" are left out. */
export function address(path: string, { path: parameters = {}, query = {} }: Loose): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name];
    if (value === undefined || value === '') throw new Error(`${path}: no ${name}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue;
    search.set(name, Array.isArray(value) ? value.join(',') : String(value));
  }
  const text = search.toString();
  return text === '' ? filled : `${filled}?${text}`;
}
