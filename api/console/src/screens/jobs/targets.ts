import type { Result } from '@/lib/operations';

export type Job = Result<'get', '/api/v1/jobs/{id}'>;

/** isActive reports whether the job still changes by itself. */
export function isActive(job: Pick<Job, 'status'>): boolean {
  return job.status === 'queued' || job.status === 'running';
}

/**
 * pageOf returns the console's page that shows what the job is about, or null if there is none. Not every page exists
 * in every version, so the caller checks it against the routes.
 */
export function pageOf(job: Pick<Job, 'kind' | 'href'>): { route: string; href: string } | null {
  const webhook = /^\/api\/v1\/webhooks\/([^/]+)\//.exec(job.href)?.[1];
  switch (job.kind) {
    case 'import': {
      const id = /\/imports\/([^/]+)$/.exec(job.href)?.[1];
      return id === undefined ? null : { route: '/app/imports/$id', href: `/app/imports/${id}` };
    }
    case 'bulk':
    case 'merge':
      return { route: '/app/contacts', href: '/app/contacts' };
    case 'replay':
      return webhook === undefined
        ? null
        : {
            route: '/app/settings/integrations/webhooks/$id',
            href: `/app/settings/integrations/webhooks/${webhook}`,
          };
    case 'train':
      return { route: '/app/ai', href: '/app/ai' };
    case 'broadcast':
      return { route: '/app/broadcasts', href: '/app/broadcasts' };
    case 'enrollment':
    case 'sequence_move':
      return { route: '/app/sequences', href: '/app/sequences' };
    case 'suppression_import':
      return { route: '/app/suppressions', href: '/app/suppressions' };
    case 'export':
      return null; // its file is downloaded
  }
}
