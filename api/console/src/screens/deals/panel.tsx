import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import type { Answer } from '@/lib/api';
import { formatNumber, toMinorUnits } from '@/lib/intl';
import { useRead } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button, IconButton } from '@/ui/button';
import { Id } from '@/ui/copy';
import { Skeleton } from '@/ui/feedback';
import { Menu } from '@/ui/menu';
import { Money } from '@/ui/money';
import { SidePanel } from '@/ui/sidepanel';
import { Status } from '@/ui/status';
import { Tabs } from '@/ui/tabs';
import { Time } from '@/ui/time';
import { Conflict } from '../record/conflict';
import { useMembers } from '../record/directory';
import { useEditing, type Editing } from '../record/editing';
import { Fact, FactList, SelectFact, TextFact } from '../record/fact';
import { GoLink } from '../record/golink';
import { Notes } from '../record/notes';
import { Tasks } from '../record/tasks';
import { nameOf } from '../record/types';
import type { Deal } from './board';
import { tones } from './list';
import { Lose } from './lose';
import { t } from './messages';
import { useArchiveDeal, useRefreshDeals } from './write';
import styles from './deals.module.css';

/** DealPanel shows one deal beside the board. */
export function DealPanel() {
  const { id } = useParams({ from: '/app/deals/$id' });
  const navigate = useNavigate();
  const archive = useArchiveDeal();
  const may = useMay('member');
  const deal = useRead('/api/v1/crm/deals/{id}', { path: { id }, query: { include_archived: true } });
  const close = () => void navigate({ to: '/app/deals', search: true });
  useCommands([{ id: 'deal.close', label: t('close'), keys: 'esc', keyOnly: true, run: close }]);
  const data = deal.data;
  return (
    <SidePanel
      key={id}
      title={data?.name ?? ''}
      {...(data === undefined && { label: t('title') })}
      onClose={close}
      actions={
        data !== undefined &&
        may &&
        data.archived_at === null && (
          <Menu
            align="end"
            trigger={<IconButton icon="more" label={t('actions', { name: data.name })} />}
            items={[
              {
                label: t('archive'),
                icon: 'archive',
                danger: true,
                onSelect: () => {
                  archive(data);
                  close();
                },
              },
            ]}
          />
        )
      }
    >
      {deal.answer === undefined ? (
        deal.error === null ? (
          <Skeleton width="60%" />
        ) : (
          <Failure error={deal.error} again={deal.again} />
        )
      ) : (
        <DealRecord answer={deal.answer} />
      )}
    </SidePanel>
  );
}

function DealRecord({ answer }: { answer: Answer<Deal> }) {
  const { id } = answer.data;
  const api = useApi();
  const refresh = useRefreshDeals();
  const members = useMembers();
  const may = useMay('member') && answer.data.archived_at === null;
  const [tab, setTab] = useState<'notes' | 'tasks'>('notes');
  const target = { path: { id }, query: { include_archived: true } };
  const editing = useEditing<Deal>(
    answer,
    ['/api/v1/crm/deals/{id}', target],
    may,
    {
      patch: ({ name, amount, currency, owner_id, expected_close_on, lost_reason, status, stage_id }, etag, key) =>
        api.patch('/api/v1/crm/deals/{id}', {
          path: { id },
          ifMatch: etag,
          idempotencyKey: key,
          body: {
            ...(name !== undefined && { name }),
            ...(amount !== undefined && { amount }),
            ...(currency !== undefined && { currency }),
            ...(owner_id !== undefined && { owner_id }),
            ...(expected_close_on !== undefined && { expected_close_on }),
            ...(lost_reason !== undefined && { lost_reason }),
            ...(status !== undefined && { status }),
            ...(stage_id !== undefined && { stage_id }),
          },
        }),
      get: () => api.get('/api/v1/crm/deals/{id}', { path: { id } }),
    },
    refresh,
  );
  const owner = { deal_id: id };
  const names = {
    name: t('name'),
    amount: t('amount'),
    owner_id: t('owner'),
    expected_close_on: t('closeOn'),
    stage_id: t('stage'),
    status: t('status'),
    lost_reason: t('lostReason'),
  };
  return (
    <>
      <Top editing={editing} />
      <DealFacts editing={editing} members={members} />
      <div className={styles.panelParts}>
        <Tabs
          label={t('parts')}
          value={tab}
          onChange={setTab}
          tabs={[
            { value: 'notes', label: t('notes'), content: <Notes owner={owner} /> },
            { value: 'tasks', label: t('tasks'), content: <Tasks owner={owner} /> },
          ]}
        />
      </div>
      <Conflict
        editing={editing}
        names={names}
        show={(field, value) => (field === 'owner_id' && typeof value === 'string' ? members.nameOf(value) : undefined)}
      />
    </>
  );
}

/** Top has the amount, the status, and what ends or reopens the deal. */
function Top({ editing }: { editing: Editing<Deal> }) {
  const { value: deal, may } = editing;
  const [losing, setLosing] = useState(false);
  return (
    <div className={styles.panelTop}>
      <span className={styles.panelAmount}>
        <Money amount={deal.amount} currency={deal.currency} />
      </span>
      <Status tone={tones[deal.status]}>{t(deal.status)}</Status>
      {may && deal.status === 'open' && (
        <>
          <Button size="small" onClick={() => void editing.save({ status: 'won' })}>
            {t('markWon')}
          </Button>
          <Button size="small" onClick={() => setLosing(true)}>
            {t('markLost')}
          </Button>
        </>
      )}
      {may && deal.status !== 'open' && (
        <Button size="small" onClick={() => void editing.save({ status: 'open' })}>
          {t('reopen')}
        </Button>
      )}
      {losing && (
        <Lose
          deal={deal}
          onClose={() => setLosing(false)}
          onLose={(reason) => {
            setLosing(false);
            void editing.save({ status: 'lost', ...(reason !== '' && { lost_reason: reason }) });
          }}
        />
      )}
    </div>
  );
}

function DealFacts({ editing, members }: { editing: Editing<Deal>; members: ReturnType<typeof useMembers> }) {
  const deal = editing.value;
  const pipeline = useRead('/api/v1/crm/pipelines/{id}', { path: { id: deal.pipeline_id } });
  const amount = plainAmount(deal.amount, deal.currency);
  return (
    <FactList label={t('about')}>
      <TextFact
        name={t('name')}
        field="name"
        editing={editing}
        value={deal.name}
        required
        change={(text) => (text === null ? {} : { name: text })}
      />
      <SelectFact
        name={t('stage')}
        field="stage_id"
        editing={editing}
        value={deal.stage_id}
        options={(pipeline.data?.stages ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        change={(stage) => (stage === null ? {} : { stage_id: stage })}
      />
      <TextFact
        name={`${t('amount')} (${deal.currency})`}
        field="amount"
        editing={editing}
        value={amount}
        change={(text) => ({ amount: toMinorUnits(text ?? '0', deal.currency) ?? deal.amount })}
      />
      <TextFact
        name={t('closeOn')}
        field="expected_close_on"
        editing={editing}
        type="date"
        value={deal.expected_close_on ?? ''}
        change={(text) => ({ expected_close_on: text })}
      />
      <SelectFact
        name={t('owner')}
        field="owner_id"
        editing={editing}
        value={deal.owner_id}
        options={members.options}
        none={t('noOwner')}
        change={(owner) => ({ owner_id: owner })}
      />
      {deal.status === 'lost' && (
        <TextFact
          name={t('reason')}
          field="lost_reason"
          editing={editing}
          value={deal.lost_reason ?? ''}
          change={(text) => ({ lost_reason: text })}
        />
      )}
      {deal.contact_id !== null && (
        <Fact name={t('contact')}>
          <ContactLink id={deal.contact_id} />
        </Fact>
      )}
      {deal.company_id !== null && (
        <Fact name={t('company')}>
          <CompanyLink id={deal.company_id} />
        </Fact>
      )}
      {deal.closed_at !== null && (
        <Fact name={t('closed')}>
          <Time at={deal.closed_at} />
        </Fact>
      )}
      <Fact name={t('added')}>
        <Time at={deal.created_at} />
      </Fact>
      <Fact name={t('id')}>
        <Id id={deal.id} />
      </Fact>
    </FactList>
  );
}

function ContactLink({ id }: { id: string }) {
  const contact = useRead('/api/v1/crm/contacts/{id}', { path: { id }, query: { include_archived: true } });
  if (contact.data === undefined) return contact.error === null ? <Skeleton width={96} /> : t('unknown');
  return <GoLink href={`/app/contacts/${id}`}>{nameOf(contact.data)}</GoLink>;
}

/** The id may name no company of the org: any UUID is stored. */
function CompanyLink({ id }: { id: string }) {
  const company = useRead('/api/v1/crm/companies/{id}', { path: { id }, query: { include_archived: true } });
  if (company.data === undefined) return company.error === null ? <Skeleton width={96} /> : t('unknown');
  return <GoLink href={`/app/companies/${id}`}>{company.data.name}</GoLink>;
}

/** plainAmount returns minor units as a person types them: 125000 USD is 1,250.00. */
function plainAmount(minor: number, currency: string): string {
  const digits = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  return formatNumber(minor / 10 ** digits, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
