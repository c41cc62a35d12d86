import type { Envelope } from './hub';

/** The paths whose reads may change with an event of a noun (the part of its type before the dot). */
const affected: Readonly<Record<string, readonly string[]>> = {
  contact: ['/api/v1/crm/contacts', '/api/v1/crm/tags', '/api/v1/overview', '/api/v1/suppressions'],
  company: ['/api/v1/crm/companies'],
  deal: ['/api/v1/crm/deals', '/api/v1/crm/pipelines', '/api/v1/overview', '/api/v1/crm/contacts/{id}/timeline'],
  task: ['/api/v1/crm/tasks', '/api/v1/crm/contacts/{id}/timeline'],
  activity: ['/api/v1/crm/notes', '/api/v1/crm/contacts/{id}/timeline'],
  email: [
    '/api/v1/crm/emails',
    '/api/v1/crm/threads',
    '/api/v1/broadcasts',
    '/api/v1/suppressions',
    '/api/v1/crm/contacts/{id}/timeline',
  ],
  sequence: ['/api/v1/sequences', '/api/v1/enrolments', '/api/v1/crm/contacts/{id}/timeline'],
  mailbox: ['/api/v1/mailboxes'],
  broadcast: ['/api/v1/broadcasts'],
  segment: ['/api/v1/crm/segments', '/api/v1/crm/contacts/{id}/timeline'],
  import: ['/api/v1/crm/contacts', '/api/v1/jobs', '/api/v1/overview'],
  export: ['/api/v1/crm/contacts/exports', '/api/v1/jobs'],
  webhook: ['/api/v1/webhooks', '/api/v1/webhook-deliveries'],
  social_account: ['/api/v1/social', '/api/v1/ads', '/api/v1/overview'],
  score_model: ['/api/v1/ai'],
  plan: ['/billing', '/api/v1/auth/me'],
  quota: ['/billing'],
  brand: ['/white-label'],
  domain: ['/white-label'],
  connect: ['/white-label/connect'],
  organization: ['/api/v1/org', '/api/v1/auth'],
  user: ['/api/v1/members', '/api/v1/auth/me'],
};

/** The key of a read: its path as in the API document, and its parameters. */
export type ReadKey = readonly [
  path: string,
  target: { path?: Record<string, unknown> } | undefined,
  ...rest: unknown[],
];

/**
 * affects reports whether what was read with key may have changed with event. A read of one resource is affected only
 * by the events of that resource; the resources below it (a contact's timeline) as it is itself.
 */
export function affects(event: Envelope, key: ReadKey): boolean {
  const [path, target] = key;
  const noun = event.type.slice(0, event.type.indexOf('.'));
  if (path.startsWith('/api/v1/events')) return true;
  for (const prefix of affected[noun] ?? []) {
    if (path !== prefix && !path.startsWith(`${prefix}/`)) continue;
    const id = target?.path?.id;
    // Most events of a sequence are about an enrolment, which names its sequence.
    const { id: object, sequence_id: sequence } = event.data.object;
    const own = noun === 'sequence' ? (sequence ?? object) : object;
    // Only the noun's own path has its ids; a task's event cannot tell by its own id which contact's page changes.
    if (id === undefined || typeof own !== 'string' || !prefix.includes(noun.replace('_', '-'))) return true;
    if (id === own) return true;
  }
  return false;
}
