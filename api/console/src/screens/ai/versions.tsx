import { useState } from 'react';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { formatNumber } from '@/lib/intl';
import { invalidate, useList, type Row } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { ConfirmDialog } from '@/ui/dialog';
import { Skeleton } from '@/ui/feedback';
import { Card } from '@/ui/page';
import { Status } from '@/ui/status';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { Rest, rowsOf } from '../record/rest';
import { t } from './messages';
import styles from './ai.module.css';

type Version = Row<'/api/v1/ai/score-model/versions'>;

/** Versions lists the trained versions; an admin can use any of them. */
export function Versions() {
  const list = useList('/api/v1/ai/score-model/versions', { query: { limit: 20 } });
  const isAdmin = useMay('admin');
  const [asking, setAsking] = useState<string | null>(null);
  const rows = rowsOf(list);
  return (
    <Card title={t('versions')}>
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : list.pending ? (
        <Skeleton width="60%" />
      ) : (
        <div className={styles.scroll} role="region" aria-label={t('versions')} tabIndex={0}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">{t('version')}</th>
                <th scope="col">{t('trainedAt')}</th>
                <th scope="col">{t('outcomes')}</th>
                <th scope="col">{t('log_loss')}</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {rows.map((version) => (
                <tr key={version.version}>
                  <th scope="row">
                    <code>{version.version}</code>
                  </th>
                  <td>{version.created_at === null ? t('prior') : <Time at={version.created_at} />}</td>
                  <td className="num">{formatNumber(version.outcomes)}</td>
                  <td className="num">{lossOf(version)}</td>
                  <td className={styles.end}>
                    <State version={version} onUse={isAdmin ? () => setAsking(version.version) : undefined} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <Rest list={list} />
        </div>
      )}
      {asking !== null && <UseVersion version={asking} onClose={() => setAsking(null)} />}
    </Card>
  );
}

function lossOf({ metrics }: Version): string {
  return metrics['log_loss'] === undefined ? '–' : formatNumber(metrics['log_loss'], { maximumFractionDigits: 3 });
}

function State({ version, onUse }: { version: Version; onUse: (() => void) | undefined }) {
  if (version.in_use) return <Status tone="good">{t('inUse')}</Status>;
  if (onUse === undefined) return <Status tone="off">{version.promoted_at === null ? t('never') : t('was')}</Status>;
  return (
    <Button size="small" aria-label={t('useOf', { version: version.version })} onClick={onUse}>
      {t('use')}
    </Button>
  );
}

function UseVersion({ version, onClose }: { version: string; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const use = useSubmit(
    (name: string, idempotencyKey) =>
      api.post('/api/v1/ai/score-model/rollback', { body: { version: name }, idempotencyKey }),
    () => {
      invalidate(scope, '/api/v1/ai/score-model', '/api/v1/crm/contacts');
      toast({ title: t('used', { version }) });
      onClose();
    },
  );
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t('useTitle', { version })}
      consequence={
        <>
          <p>{t('useText')}</p>
          {use.error !== null && <p role="alert">{describe(use.error)?.detail}</p>}
        </>
      }
      action={t('useIt')}
      busy={use.busy}
      onConfirm={() => void use.submit(version)}
    />
  );
}
