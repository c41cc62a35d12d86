import { expect, test, vi } from 'vitest';
import { address, createApi, type Credentials } from './api';
import { saveEdit, StaleError } from './edit';
import { isProblem, NetworkError, type Problem, ProblemError, readProblem } from './problem';
import { Submission } from './submission';

const json = (body: unknown, init: ResponseInit = {}) =>
  new Response(JSON.stringify(body), { ...init, headers: { 'Content-Type': 'application/json', ...init.headers } });

const problem = (
  status: number,
  code: Problem['code'],
  headers: Record<string, string> = {},
  more: Partial<Problem> = {},
) => {
  const body: Problem = {
    type: '',
    title: code,
    status,
    detail: 'Because.',
    instance: '',
    code,
    request_id: 'r1',
    ...more,
  };
  return json(body, { status, headers: { 'Content-Type': 'application/problem+json', ...headers } });
};

function setUp(...responses: (Response | Error)[]) {
  const calls: { url: string; init: RequestInit }[] = [];
  const waits: number[] = [];
  const reachability = { reached: vi.fn(), lost: vi.fn() };
  const credentials: Credentials = {
    token: vi.fn(async () => 't1'),
    refused: vi.fn(async () => true),
    forbidden: vi.fn(),
  };
  const api = createApi({
    fetch: async (url, init) => {
      calls.push({ url: String(url), init: init ?? {} });
      const next = responses.shift();
      if (next === undefined || next instanceof Error) throw next ?? new TypeError('no response');
      return next;
    },
    credentials,
    reachability,
    wait: async (milliseconds) => void waits.push(milliseconds),
  });
  return { api, calls, waits, reachability, credentials };
}

const headerOf = (call: { init: RequestInit } | undefined, name: string) => new Headers(call?.init.headers).get(name);

test('an address has its parameters escaped and empty ones left out', () => {
  expect(
    address('/a/{id}/b', {
      path: { id: 'x/y z' },
      query: { q: 'a&b', cursor: '', tag: ['a', 'b'], n: 0, no: undefined },
    }),
  ).toBe('/a/x%2Fy%20z/b?q=a%26b&tag=a%2Cb&n=0');
  expect(() => address('/a/{id}', { path: { id: '' } })).toThrow('no id');
});

test('a call carries the token, the key and the version', async () => {
  const { api, calls } = setUp(json({ id: 'c1' }, { headers: { ETag: '"2.1"' } }));
  const answer = await api.patch('/api/v1/crm/contacts/{id}', {
    path: { id: 'c1' },
    body: { first_name: 'Ada' },
    ifMatch: '"1.1"',
    idempotencyKey: 'k1',
  });
  expect(answer).toMatchObject({ data: { id: 'c1' }, etag: '"2.1"', status: 200 });
  expect([calls[0]?.url, calls[0]?.init.method, calls[0]?.init.body]).toEqual([
    '/api/v1/crm/contacts/c1',
    'PATCH',
    '{"first_name":"Ada"}',
  ]);
  expect(
    ['Authorization', 'If-Match', 'Idempotency-Key', 'X-Funnelwork-Console'].map((name) => headerOf(calls[0], name)),
  ).toEqual(['Bearer t1', '"1.1"', 'k1', null]);
});

test('only the operations with the cookie carry its header', async () => {
  const { api, calls } = setUp(new Response(null, { status: 204 }));
  await api.post('/api/v1/auth/console/logout', { credential: 'none' });
  expect(headerOf(calls[0], 'X-Funnelwork-Console')).toBe('1');
  expect(headerOf(calls[0], 'Authorization')).toBeNull();
});

test('503 is sent again where that is safe', async () => {
  const busy = () => problem(503, 'unavailable', { 'Retry-After': '2' });
  const get = setUp(busy(), busy(), json({ data: [] }));
  await get.api.get('/api/v1/crm/fields');
  expect(get.waits.map((w) => Math.floor(w / 1000))).toEqual([2, 2]);

  const post = setUp(busy());
  const body = { email: 'a@b.c', first_name: 'A', last_name: 'B' };
  await expect(post.api.post('/api/v1/crm/contacts', { body })).rejects.toMatchObject({ status: 503 });
  const keyed = setUp(busy(), json({}, { status: 201 }));
  await keyed.api.post('/api/v1/crm/contacts', { body, idempotencyKey: 'k' });
  expect(keyed.calls.map((c) => headerOf(c, 'Idempotency-Key'))).toEqual(['k', 'k']);
});

test('503 of a part that is not configured is final', async () => {
  const { api, waits } = setUp(problem(503, 'not_configured'));
  await expect(api.get('/billing/subscription')).rejects.toMatchObject({ code: 'not_configured' });
  expect(waits).toEqual([]);
});

test('a refused token is replaced; a call is not sent for ever', async () => {
  const refused = () => problem(401, 'invalid_token');
  const once = setUp(refused(), json({ data: [] }));
  await once.api.get('/api/v1/crm/fields');
  expect(once.calls.length).toBe(2);
  const always = setUp(...Array.from({ length: 9 }, refused));
  await expect(always.api.get('/api/v1/crm/fields')).rejects.toMatchObject({ status: 401 });
  expect(always.calls.length).toBe(4);
});

test('a lost connection is told from an answer and from an abort', async () => {
  const lost = setUp(new TypeError('Failed to fetch'));
  await expect(lost.api.get('/api/v1/crm/fields')).rejects.toBeInstanceOf(NetworkError);
  expect(lost.reachability.lost).toHaveBeenCalledOnce();
  const abort = new AbortController();
  abort.abort(new DOMException('left', 'AbortError'));
  const left = setUp(new DOMException('left', 'AbortError'));
  await expect(left.api.get('/api/v1/crm/fields', { signal: abort.signal })).rejects.toMatchObject({
    name: 'AbortError',
  });
  expect(left.reachability.lost).not.toHaveBeenCalled();
});

test('errors are found by pointer, and a page of a proxy is a problem', async () => {
  const fields = [
    { pointer: '/email', code: 'invalid_format', detail: 'No address.' },
    { parameter: 'sort', code: 'x', detail: 'y' },
  ];
  const invalid = await readProblem(problem(422, 'validation_failed', {}, { errors: fields }));
  expect([invalid.at('/email'), invalid.at('sort'), invalid.at('/name')]).toEqual(['No address.', 'y', undefined]);
  const page = await readProblem(
    new Response('<h1>Bad gateway', { status: 502, headers: { 'Content-Type': 'text/html' } }),
  );
  expect([page.status, page.code, isProblem(page)]).toEqual([502, 'unavailable', true]);
});

test('a submission repeats its key until the result is known', async () => {
  const submission = new Submission();
  const keys: string[] = [];
  const send = (fail?: Error) => async (key: string) => {
    keys.push(key);
    if (fail) throw fail;
    return 1;
  };
  const status = (n: number, code: Problem['code']) =>
    new ProblemError({ type: '', title: '', status: n, detail: '', instance: '', code, request_id: '' });
  await expect(submission.run({ a: 1 }, send(new NetworkError(null)))).rejects.toThrow();
  await expect(submission.run({ a: 1 }, send(status(409, 'idempotency_in_flight')))).rejects.toThrow();
  await submission.run({ a: 1 }, send());
  await submission.run({ a: 1 }, send());
  await expect(submission.run({ a: 2 }, send(new NetworkError(null)))).rejects.toThrow();
  await expect(submission.run({ a: 3 }, send(status(422, 'validation_failed')))).rejects.toThrow();
  await submission.run({ a: 3 }, send());
  expect(keys.map((key) => keys.indexOf(key))).toEqual([0, 0, 0, 3, 4, 5, 6]);
});

const answer = <T>(data: T, etag: string) => ({ data, etag, status: 200, location: null, requestId: '' });

test('an edit of other fields is kept; an edit of the same one shows both versions', async () => {
  const stale = () =>
    new ProblemError({
      type: '',
      title: '',
      status: 412,
      detail: '',
      instance: '',
      code: 'precondition_failed',
      request_id: '',
    });
  const base = answer({ name: 'A', stage: 'lead' }, '1');
  let stored = answer({ name: 'A', stage: 'customer' }, '2');
  const call = {
    patch: async (changes: object, etag: string | null) => {
      if (etag !== stored.etag) throw stale();
      return answer({ ...stored.data, ...changes }, '3');
    },
    get: async () => stored,
  };
  expect((await saveEdit(base, { name: 'B' }, call)).data).toEqual({ name: 'B', stage: 'customer' });
  stored = answer({ name: 'C', stage: 'lead' }, '2');
  const conflict = await saveEdit(base, { name: 'B' }, call).catch((error: unknown) => error);
  expect(conflict).toBeInstanceOf(StaleError);
  expect(conflict).toMatchObject({ mine: { name: 'B' }, theirs: { data: { name: 'C' } }, conflicts: ['name'] });
});
