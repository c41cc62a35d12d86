import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Failure } from '@/app/failure';
import { useList, type Row } from '@/lib/read';
import { useApi } from '@/lib/services';
import { ConfirmDialog } from '@/ui/dialog';
import { Status, type Tone } from '@/ui/status';
import { Table, type Column } from '@/ui/table';
import { Time } from '@/ui/time';
import { useAct } from '../mail/act';
import mail from '../mail/mail.module.css';
import { SequenceFrame, type Within } from './frame';
import { t } from './messages';

type Version = Row<'/api/v1/sequences/{id}/versions'>;

const tones: Readonly<Record<Version['status'], Tone>> = { draft: 'warn', active: 'good', retired: 'off' };

const columns: readonly Column<Version>[] = [
  { key: 'version', title: t('versions'), cell: (one) => t('version', { count: one.version }) },
  {
    key: 'status',
    title: t('status'),
    width: 120,
    cell: (one) => <Status tone={tones[one.status]}>{t(one.status)}</Status>,
  },
  { key: 'steps', title: t('steps'), width: 104, wide: true, cell: (one) => t('stepsCount', { count: one.steps.length }) },
  {
    key: 'activated',
    title: t('activatedAt'),
    width: 140,
    end: true,
    wide: true,
    cell: (one) => (one.activated_at === null ? t('neverActivated') : <Time at={one.activated_at} />),
  },
];

/** SequenceVersions lists the versions of a sequence, and moves contacts from an old one to the active one. */
export function SequenceVersions() {
  const { id } = useParams({ from: '/app/sequences/$id/versions' });
  return <SequenceFrame id={id}>{(within) => <Versions {...within} />}</SequenceFrame>;
}

function Versions({ sequence, mayEdit }: Within) {
  const list = useList('/api/v1/sequences/{id}/versions', { path: { id: sequence.id } });
  const api = useApi();
  const [moving, setMoving] = useState<Version | null>(null);
  const { busy, run } = useAct('/api/v1/sequences');
  const { version: to } = sequence;
  const mayMove = (one: Version) => mayEdit && to !== null && one.status === 'retired';
  const move = async (from: number) => {
    if (to === null) return;
    await run(
      'move',
      (idempotencyKey) =>
        api.post('/api/v1/sequences/{id}/move', { path: { id: sequence.id }, body: { from, to }, idempotencyKey }),
      { title: t('moveBegun') },
    );
    setMoving(null);
  };
  if (list.error !== null && list.pending) return <Failure error={list.error} again={() => list.pages.retry()} />;
  return (
    <div className={mail.part}>
      <Table
        label={t('versions')}
        columns={columns}
        rows={list}
        rowKey={(one) => String(one.version)}
        loading={list.pending}
        {...(mayEdit && {
          actions: (one: Version) =>
            mayMove(one) ? [{ label: t('move'), icon: 'right' as const, onSelect: () => setMoving(one) }] : [],
        })}
      />
      <ConfirmDialog
        open={moving !== null}
        onClose={() => setMoving(null)}
        title={t('moveTitle', { from: moving?.version ?? 0, to: to ?? 0 })}
        consequence={t('moveText')}
        action={t('move')}
        busy={busy === 'move'}
        onConfirm={() => moving !== null && void move(moving.version)}
      />
    </div>
  );
}
