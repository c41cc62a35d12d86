import { useRef } from 'react';
import type { Answer } from '@/lib/api';
import { StaleError, saveEdit } from '@/lib/edit';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Callout } from '@/ui/feedback';
import { toast } from '@/ui/toast';
import { t } from './messages';
import type { Org } from './org';
import styles from './org.module.css';

interface Change {
  name?: string;
  settings?: { stages?: string[]; time_zone?: string | null };
}

/**
 * useSaveOrg saves a part of the org for the version that is shown. If somebody has changed that part since, error is
 * a StaleError; the settings are one part.
 */
export function useSaveOrg(answer: Answer<Org>, saved: string) {
  const api = useApi();
  const scope = useScope();
  const base = useRef(answer);
  const error = useRef<unknown>(null);
  if (error.current === null) base.current = answer;
  const save = useSubmit(
    (change: Change, idempotencyKey) =>
      saveEdit<Org>(base.current, { ...change }, {
        patch: (_, ifMatch) => api.patch('/api/v1/org', { body: change, ifMatch, idempotencyKey: `${idempotencyKey}-${ifMatch ?? ''}`.replaceAll('"', '') }),
        get: () => api.get('/api/v1/org'),
      }),
    () => {
      invalidate(scope, '/api/v1/org', '/api/v1/auth/me', '/api/v1/auth/orgs');
      toast({ title: saved });
    },
  );
  error.current = save.error;
  const stale: StaleError<Org> | null = save.error instanceof StaleError ? save.error : null;
  return {
    ...save,
    stale,
    /** Saves the change over the version that the StaleError has. */
    overwrite: (change: Change) => {
      if (stale !== null) base.current = stale.theirs;
      return save.submit(change);
    },
    /** Gives up the change, and shows what is stored. */
    takeTheirs: () => {
      save.reset();
      invalidate(scope, '/api/v1/org');
    },
  };
}

/** Stale shows both versions of what two people changed, and lets the person choose. */
export function Stale({
  mine,
  theirs,
  busy,
  onMine,
  onTheirs,
}: {
  mine: string;
  theirs: string;
  busy: boolean;
  onMine: () => void;
  onTheirs: () => void;
}) {
  return (
    <Callout tone="warn" title={t('staleTitle')}>
      {t('staleText')}
      <dl className={styles.versions}>
        <dt>{t('mine')}</dt>
        <dd>{mine || t('none')}</dd>
        <dt>{t('theirs')}</dt>
        <dd>{theirs || t('none')}</dd>
      </dl>
      <span className={styles.buttons}>
        <Button size="small" busy={busy} onClick={onMine}>
          {t('keepMine')}
        </Button>
        <Button size="small" onClick={onTheirs}>
          {t('takeTheirs')}
        </Button>
      </span>
    </Callout>
  );
}
