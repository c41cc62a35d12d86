import { openChannel } from '@/lib/channel';
import { createQueries, Lists, type Scope } from '@/lib/scope';
import type { OrgName } from '@/lib/session/grant';
import type { Session } from '@/lib/session/session';
import type { Locks } from '@/lib/locks';
import { Hub, type StreamMessage } from '@/lib/stream/hub';
import { readStream } from '@/lib/stream/reader';
import { wait } from '@/lib/wait';
import { readProblem } from '@/lib/problem';

const streamPath = '/api/v1/events/stream';

export interface OpenScope {
  scope: Omit<Scope, 'org' | 'role'>;
  close: () => void;
}

/** openScope begins what belongs to org: an empty cache and the event stream. close ends both. */
export function openScope(session: Session, locks: Locks, org: OrgName, staff: boolean): OpenScope {
  const queries = createQueries();
  const hub = new Hub(
    {
      locks,
      channel: openChannel<StreamMessage>(`funnelwork.stream.${org.id}`),
      read: (on, lastEventId, signal) =>
        readStream({ ...on, wait, open: (last, aborted) => openStream(session, last, aborted) }, lastEventId, signal),
    },
    org.id,
  );
  return {
    scope: { staff, queries, lists: new Lists(), hub },
    close() {
      hub.close();
      queries.clear();
    },
  };
}

async function openStream(session: Session, lastEventId: string, signal: AbortSignal): Promise<Response> {
  const token = await session.token(false);
  const headers = new Headers({ Accept: 'text/event-stream', Authorization: `Bearer ${token ?? ''}` });
  if (lastEventId !== '') headers.set('Last-Event-ID', lastEventId);
  const response = await fetch(streamPath, { headers, signal, cache: 'no-store' });
  // A stream that the service ended with its session is where this browser hears of it first.
  if (response.status === 401 && token !== null) await session.refused(token, await readProblem(response.clone()));
  return response;
}
