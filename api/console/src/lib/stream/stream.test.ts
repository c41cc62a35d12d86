import { expect, test, vi } from 'vitest';
import { fakeBrowser } from '../faketabs';
import { type Envelope, Hub, type HubListener, type StreamMessage } from './hub';
import { affects } from './invalidate';
import { type ServerEvent, StreamParser } from './parse';
import { readStream } from './reader';

const text = [
  ': hello\n\nid: c1\nevent: contact.created\ndata: {"a":1}\n\n',
  'id: c2\r\nevent: deal.won\r\ndata: x\r\ndata: y\r\n\r\n',
  'data: z\r\r',
].join('');
const events: ServerEvent[] = [
  { id: 'c1', type: 'contact.created', data: '{"a":1}' },
  { id: 'c2', type: 'deal.won', data: 'x\ny' },
  { id: 'c2', type: 'message', data: 'z' },
];

test('events are the same however the stream is cut', () => {
  for (let size = 1; size <= text.length; size++) {
    const parser = new StreamParser();
    const got: ServerEvent[] = [];
    for (let i = 0; i < text.length; i += size) got.push(...parser.push(text.slice(i, i + size)));
    got.push(...parser.push('\n')); // shows that the last CR was an end of line
    expect(got).toEqual(events);
  }
});

test('a reset has no data and is an event', () => {
  expect(new StreamParser().push('event: reset\n\n')).toEqual([{ id: '', type: 'reset', data: '' }]);
});

function streamOf(...parts: string[]): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(encoder.encode(part));
      controller.close();
    },
  });
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
}

test('the reader connects again after the last event', async () => {
  const stop = new AbortController();
  const asked: string[] = [];
  const got: string[] = [];
  let last = '';
  const responses = [
    streamOf('id: c1\ndata: 1\n\n'),
    streamOf('id: c2\ndata: 2\n\nid: c3\nda'),
    streamOf('id: c3\ndata: 3\n\n'),
  ];
  await readStream(
    {
      open: (id) => {
        asked.push(id);
        const response = responses.shift();
        if (response === undefined) stop.abort();
        return Promise.resolve(response ?? streamOf());
      },
      wait: () => Promise.resolve(),
      onEvent: (event) => {
        last = event.id;
        got.push(event.data);
      },
      onConnected: () => {},
    },
    () => last,
    stop.signal,
  );
  expect(got).toEqual(['1', '2', '3']);
  expect(asked).toEqual(['', 'c1', 'c2', 'c3']);
});

test('the reader waits as long as the service asks', async () => {
  const stop = new AbortController();
  const waits: number[] = [];
  await readStream(
    {
      open: () => Promise.resolve(new Response('', { status: 429, headers: { 'Retry-After': '7' } })),
      wait: (milliseconds) => {
        waits.push(milliseconds);
        if (waits.length === 2) stop.abort();
        return Promise.resolve();
      },
      onEvent: () => {},
      onConnected: () => {},
    },
    () => '',
    stop.signal,
  );
  expect(waits.every((w) => w >= 7000 && w < 8000)).toBe(true);
});

test('a silent stream is given up', async () => {
  vi.useFakeTimers();
  const stop = new AbortController();
  let opened = 0;
  const done = readStream(
    {
      open: (_, signal) =>
        Promise.resolve(
          new Response(
            new ReadableStream({
              start: (controller) => {
                opened++;
                signal.addEventListener('abort', () => controller.error(signal.reason));
              },
            }),
          ),
        ),
      wait: () => Promise.resolve(),
      onEvent: () => {},
      onConnected: () => {},
    },
    () => '',
    stop.signal,
  );
  await vi.advanceTimersByTimeAsync(40_000);
  expect(opened).toBe(2);
  stop.abort();
  await vi.advanceTimersByTimeAsync(1);
  await done;
  vi.useRealTimers();
});

const envelope = (type: Envelope['type'], id: string): Envelope => ({
  id: 'e1',
  type,
  api_version: 'v1',
  created_at: '2026-01-01T00:00:00.000000Z',
  org_id: 'o1',
  seq: 1,
  actor: { type: 'system', id: null },
  request_id: null,
  data: { object: { id }, previous: null },
});

test('one tab reads, all tabs hear, and the next one goes on when it closes', async () => {
  const browser = fakeBrowser();
  const readers: { emit: (event: ServerEvent) => void; after: string }[] = [];
  const open = () => {
    const heard: string[] = [];
    const hub = new Hub(
      {
        locks: browser.locks,
        channel: browser.channel<StreamMessage>(),
        read: (on, lastEventId, signal) => {
          readers.push({ emit: on.onEvent, after: lastEventId() });
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
        },
      },
      'o1',
    );
    const listener: HubListener = {
      onEvent: (event) => heard.push(event.data.object['id'] as string),
      onReset: () => heard.push('reset'),
    };
    hub.listen(listener);
    return { hub, heard };
  };
  const [first, second] = [open(), open()];
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  await settle();
  expect(readers.length).toBe(1);
  readers[0]!.emit({ id: 'c1', type: 'contact.created', data: JSON.stringify(envelope('contact.created', 'a')) });
  readers[0]!.emit({ id: '', type: 'reset', data: '' });
  await settle();
  expect([first.heard, second.heard]).toEqual([
    ['a', 'reset'],
    ['a', 'reset'],
  ]);
  first.hub.close();
  await settle();
  expect(readers[1]?.after).toBe('c1');
  readers[1]!.emit({ id: 'c2', type: 'contact.created', data: JSON.stringify(envelope('contact.created', 'b')) });
  expect([first.heard.length, second.heard]).toEqual([2, ['a', 'reset', 'b']]);
});

test('an event marks the reads that it may have changed', () => {
  const updated = envelope('contact.updated', 'a');
  expect(affects(updated, ['/api/v1/crm/contacts', undefined])).toBe(true);
  expect(affects(updated, ['/api/v1/crm/contacts/{id}', { path: { id: 'a' } }])).toBe(true);
  expect(affects(updated, ['/api/v1/crm/contacts/{id}/timeline', { path: { id: 'a' } }])).toBe(true);
  expect(affects(updated, ['/api/v1/crm/contacts/{id}', { path: { id: 'b' } }])).toBe(false);
  expect(affects(updated, ['/api/v1/crm/companies', undefined])).toBe(false);
  expect(affects(envelope('task.completed', 't'), ['/api/v1/crm/contacts/{id}/timeline', { path: { id: 'b' } }])).toBe(
    true,
  );
  const enrolled = envelope('sequence.enrolled', 'e');
  enrolled.data.object['sequence_id'] = 's';
  expect(affects(enrolled, ['/api/v1/sequences/{id}/enrolments', { path: { id: 's' } }])).toBe(true);
  expect(affects(enrolled, ['/api/v1/sequences/{id}/enrolments', { path: { id: 'other' } }])).toBe(false);
  expect(affects(envelope('email.replied', 'm'), ['/api/v1/crm/threads/{id}', { path: { id: 't' } }])).toBe(true);
  expect(affects(envelope('unheard.of' as Envelope['type'], 'x'), ['/api/v1/crm/contacts', undefined])).toBe(false);
});
