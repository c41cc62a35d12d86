import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useRef } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { useList } from '@/lib/read';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/feedback';
import { Select } from '@/ui/select';
import { Status } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { Toolbar } from '@/ui/toolbar';
import mail from '../mail/mail.module.css';
import { EnrolmentPanel } from './enrolment';
import { SequenceFrame, type Within } from './frame';
import { t } from './messages';
import { states, type State } from './states';
import { reasonWord, stateWord, stepName, type Enrolment } from './words';

/** SequenceContacts lists who is or was in a sequence. */
export function SequenceContacts() {
  const { id } = useParams({ from: '/app/sequences/$id/contacts' });
  return <SequenceFrame id={id}>{(within) => <List {...within} />}</SequenceFrame>;
}

function List({ sequence, mayEdit, enrol }: Within) {
  const { state, open } = useSearch({ from: '/app/sequences/$id/contacts' });
  const path = { id: sequence.id };
  const list = useList('/api/v1/sequences/{id}/enrolments', {
    path,
    query: { count: 'exact', ...(state !== undefined && { state }) },
  });
  const navigate = useNavigate();
  const table = useRef<TableHandle>(null);
  const show = (search: { state?: State; open?: string }) =>
    void navigate({ to: '/app/sequences/$id/contacts', params: path, search });
  const within = state === undefined ? {} : { state };
  useCommands([
    { id: 'enrolments.down', label: 'Next contact', keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'enrolments.up', label: 'Previous contact', keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  const columns: readonly Column<Enrolment>[] = [
    { key: 'contact', title: t('contact'), cell: (one) => one.contact_name ?? `…${one.contact_id.slice(-8)}` },
    {
      key: 'state',
      title: t('state'),
      width: 132,
      cell: (one) => <Status tone={stateWord(one.state).tone}>{stateWord(one.state).word}</Status>,
    },
    { key: 'step', title: t('step'), width: '28%', wide: true, cell: (one) => stepName(sequence.steps, one.step) },
    {
      key: 'reason',
      title: t('reason'),
      width: 148,
      wide: true,
      cell: (one) => reasonWord(one.reason ?? one.status_reason ?? ''),
    },
    {
      key: 'next',
      title: t('next'),
      width: 112,
      end: true,
      wide: true,
      cell: (one) => (one.due_at === null ? '' : <Time at={one.due_at} />),
    },
  ];
  const isLive = sequence.status === 'active' || sequence.status === 'paused';
  const isEmpty = list.complete && list.length === 0;
  const options = [
    { value: 'any', label: t('filterState') },
    ...states.map((value) => ({ value, label: stateWord(value).word })),
  ] as const;
  const choose = (value: (typeof options)[number]['value']) => {
    const next = states.find((one) => one === value);
    show(next === undefined ? {} : { state: next });
  };
  return (
    <>
      {(!isEmpty || state !== undefined) && (
        <Toolbar>
          <span>
            <Select label={t('state')} size="small" value={state ?? 'any'} options={options} onChange={choose} />
          </span>
          {list.total !== null && <span className="meta num">{list.total.toLocaleString('en')}</span>}
        </Toolbar>
      )}
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : isEmpty ? (
        <EmptyState
          icon="contacts"
          title={state === undefined ? t('noEnrolments') : t('noneMatch')}
          action={
            state !== undefined ? (
              <Button onClick={() => show({})}>{t('clearFilter')}</Button>
            ) : (
              mayEdit &&
              isLive && (
                <Button kind="primary" size="small" icon="plus" onClick={enrol}>
                  {t('enrol')}
                </Button>
              )
            )
          }
          {...(state === undefined && { guide: { label: t('guide'), href: '/docs/guides/sequences' } })}
        >
          {state === undefined && t('noEnrolmentsText')}
        </EmptyState>
      ) : (
        <div className={mail.part}>
          <Table
            ref={table}
            label={t('enrolments')}
            columns={columns}
            rows={list}
            rowKey={(one) => one.id}
            onOpen={(one) => show({ ...within, open: one.id })}
            current={open}
            phone={(one) => stepName(sequence.steps, one.step)}
            loading={list.pending}
          />
        </div>
      )}
      {open !== undefined && (
        <EnrolmentPanel key={open} id={open} sequence={sequence} mayEdit={mayEdit} onClose={() => show(within)} />
      )}
    </>
  );
}
