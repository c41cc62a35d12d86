import { isProblem, readProblem } from '../problem';
import { backoff } from '../retry';
import { type ServerEvent, StreamParser } from './parse';

/** The service sends a comment each 15 s, so a stream that is silent for longer than this is broken. */
const silence = 40_000;

export interface ReaderDeps {
  /** Opens the stream, after the event with that cursor. It throws for a response that is not 2xx. */
  open: (lastEventId: string, signal: AbortSignal) => Promise<Response>;
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  onEvent: (event: ServerEvent) => void;
  /** The stream is connected (true) or is waiting to be (false). */
  onConnected: (connected: boolean) => void;
}

/**
 * readStream reads the stream until signal is aborted, and connects again with growing random delays whenever it ends.
 * lastEventId returns the cursor after the last event that any tab received.
 */
export async function readStream(deps: ReaderDeps, lastEventId: () => string, signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    let delay: number | null = null;
    try {
      const connected = await readOnce(deps, lastEventId(), signal);
      failures = connected ? 0 : failures + 1;
    } catch (error) {
      failures++;
      if (isProblem(error) && error.retryAfter !== null) delay = error.retryAfter * 1000 + backoff(0);
    }
    deps.onConnected(false);
    if (signal.aborted) return;
    await deps.wait(delay ?? backoff(failures), signal).catch(() => {});
  }
}

/** Reads one connection to its end. Reports whether anything arrived on it. */
async function readOnce(deps: ReaderDeps, lastEventId: string, signal: AbortSignal): Promise<boolean> {
  const broken = new AbortController();
  const both = AbortSignal.any([signal, broken.signal]);
  let alarm = setTimeout(() => broken.abort(), silence);
  let arrived = false;
  try {
    const response = await deps.open(lastEventId, both);
    if (!response.ok || response.body === null) throw await readProblem(response);
    deps.onConnected(true);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const parser = new StreamParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return arrived;
      arrived = true;
      clearTimeout(alarm);
      alarm = setTimeout(() => broken.abort(), silence);
      for (const event of parser.push(decoder.decode(value, { stream: true }))) deps.onEvent(event);
    }
  } catch (error) {
    if (arrived) return true; // a connection that worked and broke is not a failure of the service
    throw error;
  } finally {
    clearTimeout(alarm);
  }
}
