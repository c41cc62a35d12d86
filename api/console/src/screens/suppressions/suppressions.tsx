import { useEffect, useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { useList, type Row } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/feedback';
import { PageHead } from '@/ui/page';
import { Select } from '@/ui/select';
import { Badge } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { SearchInput, Toolbar } from '@/ui/toolbar';
import styles from '../mail/mail.module.css';
import { CreateDialog, LiftDialog } from './dialogs';
import { ImportDialog } from './import';
import { t } from './messages';
import { searchOf } from './search';

export type Suppression = Row<'/api/v1/suppressions'>;

/** nameOf returns what is suppressed. The address of an erased contact is not kept. */
export function nameOf({ email, domain }: Pick<Suppression, 'email' | 'domain'>): string {
  return email ?? domain ?? t('purged');
}

const columns: readonly Column<Suppression>[] = [
  { key: 'address', title: t('address'), cell: nameOf },
  {
    key: 'purpose',
    title: t('purpose'),
    width: 104,
    cell: (one) => <Badge tone={one.purpose === 'all' ? 'bad' : 'warn'}>{t(one.purpose)}</Badge>,
  },
  { key: 'reason', title: t('reason'), width: 136, wide: true, cell: (one) => t(one.reason) },
  { key: 'note', title: t('note'), width: '24%', wide: true, cell: (one) => one.lift_reason ?? one.note },
  { key: 'added', title: t('added'), width: 112, end: true, wide: true, cell: (one) => <Time at={one.lifted_at ?? one.created_at} /> },
];

const reasons = [
  { value: 'any', label: t('anyReason') },
  { value: 'unsubscribe', label: t('unsubscribe') },
  { value: 'complaint', label: t('complaint') },
  { value: 'hard_bounce', label: t('hard_bounce') },
  { value: 'manual', label: t('manual') },
] as const;

const pause = 250; // milliseconds before what is typed is looked for

/** Suppressions lists the addresses and domains that get no mail. */
export function Suppressions() {
  const [text, setText] = useState('');
  const [wanted, setWanted] = useState('');
  const [reason, setReason] = useState<(typeof reasons)[number]['value']>('any');
  const [state, setState] = useState<'force' | 'lifted'>('force');
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text), pause);
    return () => clearTimeout(timer);
  }, [text]);
  const list = useList('/api/v1/suppressions', {
    query: {
      count: 'exact',
      ...searchOf(wanted),
      ...(reason !== 'any' && { reason }),
      ...(state === 'lifted' && { lifted: true }),
    },
  });
  const { org, role } = useScope();
  const mayAdd = useMay('member');
  const isAdmin = useMay('admin');
  const isOwner = useMay('owner');
  const table = useRef<TableHandle>(null);
  const [layer, setLayer] = useState<'create' | 'import' | null>(null);
  const [lifting, setLifting] = useState<Suppression | null>(null);
  useCommands([
    { id: 'suppressions.down', label: 'Next suppression', keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'suppressions.up', label: 'Previous suppression', keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
    ...(mayAdd
      ? [
          { id: 'suppressions.create', label: t('create'), icon: 'plus' as const, keys: 'c', run: () => setLayer('create') },
          { id: 'suppressions.import', label: t('importTitle'), icon: 'imports' as const, run: () => setLayer('import') },
        ]
      : []),
  ]);
  const button = (
    <Button kind="primary" size="small" icon="plus" onClick={() => setLayer('create')}>
      {t('newSuppression')}
    </Button>
  );
  const isEmpty = list.complete && list.length === 0;
  const isNarrowed = wanted !== '' || reason !== 'any' || state === 'lifted';
  const clear = () => {
    setText('');
    setWanted('');
    setReason('any');
    setState('force');
  };
  return (
    <>
      <PageHead title={t('title')} count={list.total ?? undefined}>
        {mayAdd && (
          <>
            <Button size="small" icon="imports" onClick={() => setLayer('import')}>
              {t('import')}
            </Button>
            {(!isEmpty || isNarrowed) && button}
          </>
        )}
      </PageHead>
      {!mayAdd && <p className={styles.note}>{t('mayNot', { org: org.name, role })}</p>}
      {(!isEmpty || isNarrowed) && (
        <Toolbar>
          <SearchInput label={t('find')} value={text} onChange={setText} />
          <span>
            <Select label={t('reason')} size="small" options={reasons} value={reason} onChange={setReason} />
          </span>
          <span>
            <Select
              label={t('state')}
              size="small"
              options={[
                { value: 'force', label: t('inForce') },
                { value: 'lifted', label: t('liftedOnes') },
              ]}
              value={state}
              onChange={setState}
            />
          </span>
        </Toolbar>
      )}
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : isEmpty ? (
        <EmptyState
          icon="lock"
          title={isNarrowed ? t('noneFound') : t('empty')}
          action={isNarrowed ? <Button onClick={clear}>{t('showAll')}</Button> : mayAdd ? button : undefined}
          {...(!isNarrowed && { guide: { label: t('guide'), href: '/docs/guides/email' } })}
        >
          {!isNarrowed && t('emptyText')}
        </EmptyState>
      ) : (
        <div className={styles.part}>
          <Table
            ref={table}
            label={t('title')}
            columns={columns}
            rows={list}
            rowKey={(one) => one.id}
            phone={(one) => t(one.reason)}
            loading={list.pending}
            {...(isAdmin &&
              state === 'force' && {
                actions: (one: Suppression) => [
                  {
                    label: t('lift'),
                    icon: 'undo' as const,
                    disabled: one.reason === 'complaint' && !isOwner,
                    onSelect: () => setLifting(one),
                  },
                ],
              })}
          />
        </div>
      )}
      {layer === 'create' && <CreateDialog onClose={() => setLayer(null)} />}
      {layer === 'import' && <ImportDialog onClose={() => setLayer(null)} />}
      {lifting !== null && <LiftDialog one={lifting} onClose={() => setLifting(null)} />}
    </>
  );
}
