import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import type { Answer } from '@/lib/api';
import { invalidate, useList, useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Avatar } from '@/ui/avatar';
import { Button, IconButton } from '@/ui/button';
import { Callout, EmptyState, Skeleton } from '@/ui/feedback';
import { Menu } from '@/ui/menu';
import { PageHead } from '@/ui/page';
import { ScoreRing } from '@/ui/score';
import { Badge } from '@/ui/status';
import { Tabs } from '@/ui/tabs';
import { CreateContact } from '../contacts/create';
import { archiveWithUndo } from '../record/archive';
import { Deals } from '../record/deals';
import { GoLink } from '../record/golink';
import { label } from '../record/label';
import { t as common } from '../record/messages';
import { neighboursOf } from '../record/neighbours';
import { Notes } from '../record/notes';
import { rowsOf, Rest } from '../record/rest';
import { Tasks } from '../record/tasks';
import { nameOf, type Company } from '../record/types';
import { CompanyFacts, companyTarget } from './facts';
import { t } from './messages';
import { useCompanies, useShownSearch } from './neighbours';
import styles from '../record/record.module.css';

/** CompanyPage is one company: facts at the left; its people, deals, notes and tasks at the right. */
export function CompanyPage() {
  const { id } = useParams({ from: '/app/companies/$id' });
  const company = useRead('/api/v1/crm/companies/{id}', companyTarget(id));
  const navigate = useNavigate();
  const search = useShownSearch();
  const { previous, next } = neighboursOf(useCompanies(search), id);
  const go = (to?: Company) => to && void navigate({ to: '/app/companies/$id', params: { id: to.id } });
  const back = () => void navigate({ to: '/app/companies', search });
  useCommands([
    { id: 'company.previous', label: t('previous'), keys: '[', keyOnly: true, run: () => go(previous) },
    { id: 'company.next', label: t('next'), keys: ']', keyOnly: true, run: () => go(next) },
    { id: 'company.back', label: t('back'), keys: 'esc', keyOnly: true, run: back },
  ]);
  return (
    <>
      <PageHead
        title={company.data?.name ?? t('title')}
        before={<IconButton icon="left" label={t('back')} keys="esc" onClick={back} />}
      >
        <IconButton icon="up" label={t('previous')} keys="[" disabled={!previous} onClick={() => go(previous)} />
        <IconButton icon="down" label={t('next')} keys="]" disabled={!next} onClick={() => go(next)} />
        {company.data && <CompanyActions company={company.data} />}
      </PageHead>
      {company.answer === undefined ? (
        company.error === null ? (
          <Skeleton width="40%" />
        ) : (
          <Failure error={company.error} again={company.again} />
        )
      ) : (
        <div className={styles.record}>
          <div className={styles.side}>
            <CompanySide answer={company.answer} />
          </div>
          <section className={styles.story} aria-label={t('story')}>
            <CompanyStory company={company.answer.data} />
          </section>
        </div>
      )}
    </>
  );
}

/** CompanySide is what is known of a company. */
export function CompanySide({ answer }: { answer: Answer<Company> }) {
  const company = answer.data;
  return (
    <>
      <div className={styles.identity}>
        <Avatar name={company.name} size="large" square />
        <div className={styles.identityText}>
          <div className={styles.identityName}>{company.name}</div>
          <div className="meta">{company.industry ?? company.domain}</div>
        </div>
      </div>
      {company.archived_at !== null && <Archived id={company.id} />}
      <CompanyFacts key={company.id} answer={answer} />
    </>
  );
}

function Archived({ id }: { id: string }) {
  const api = useApi();
  const scope = useScope();
  const may = useMay('member');
  const [error, setError] = useState<unknown>(null);
  const restore = () => {
    api
      .post('/api/v1/crm/companies/{id}/restore', { path: { id }, idempotencyKey: crypto.randomUUID() })
      .then(() => invalidate(scope, '/api/v1/crm/companies'))
      .catch(setError);
  };
  return (
    <>
      <Callout
        tone="warn"
        title={common('isArchived')}
        {...(may && {
          action: (
            <Button size="small" onClick={restore}>
              {common('restore')}
            </Button>
          ),
        })}
      >
        {common('isArchivedHelp')}
      </Callout>
      {error !== null && <Failure error={error} />}
    </>
  );
}

/** CompanyStory has the people and deals of a company, and what is noted and planned. */
export function CompanyStory({ company }: { company: Company }) {
  const [tab, setTab] = useState<'contacts' | 'deals' | 'notes' | 'tasks'>('contacts');
  const { id } = company;
  const owner = { company_id: id };
  return (
    <div>
      <Tabs
        label={t('story')}
        value={tab}
        onChange={setTab}
        tabs={[
          { value: 'contacts', label: t('contacts'), content: <People key={id} company={company} /> },
          { value: 'deals', label: t('deals'), content: <Deals key={id} owner={owner} /> },
          { value: 'notes', label: t('notes'), content: <Notes key={id} owner={owner} /> },
          { value: 'tasks', label: t('tasks'), content: <Tasks key={id} owner={owner} /> },
        ]}
      />
    </div>
  );
}

function People({ company }: { company: Company }) {
  const people = useList('/api/v1/crm/contacts', { query: { company_id: company.id, sort: '-lead_score' } });
  const may = useMay('member') && company.archived_at === null;
  const navigate = useNavigate();
  const [creating, setCreating] = useState(false);
  const rows = rowsOf(people);
  const add = may && (
    <Button size="small" icon="plus" onClick={() => setCreating(true)}>
      {t('addContact')}
    </Button>
  );
  return (
    <div className={styles.stack}>
      {people.error !== null && rows.length === 0 ? (
        <Failure error={people.error} again={() => people.pages.retry()} />
      ) : people.pending ? (
        <Skeleton width="60%" />
      ) : rows.length === 0 ? (
        <EmptyState icon="contacts" title={t('noContacts')} action={add}>
          {t('noContactsHelp')}
        </EmptyState>
      ) : (
        <>
          <div>{add}</div>
          <ul className={styles.deals}>
            {rows.map((contact) => (
              <li key={contact.id} className={styles.deal}>
                <Avatar name={nameOf(contact)} />
                <div className={styles.dealName}>
                  <GoLink href={`/app/contacts/${contact.id}`}>{nameOf(contact)}</GoLink>
                  <span className="meta">{contact.job_title ?? contact.email}</span>
                </div>
                <Badge>{label(contact.stage)}</Badge>
                <ScoreRing score={contact.lead_score} />
              </li>
            ))}
          </ul>
        </>
      )}
      <Rest list={people} />
      {creating && (
        <CreateContact
          company={{ value: company.id, label: company.name }}
          onClose={() => setCreating(false)}
          onOpen={(id) => void navigate({ to: '/app/contacts/$id', params: { id } })}
        />
      )}
    </div>
  );
}

/** CompanyActions are the actions on one company. */
export function CompanyActions({ company }: { company: Company }) {
  const archive = useArchive();
  const may = useMay('member');
  if (!may || company.archived_at !== null) return null;
  return (
    <Menu
      align="end"
      trigger={<IconButton icon="more" label={t('actions')} />}
      items={[{ label: t('archive'), icon: 'archive', danger: true, onSelect: () => archive(company) }]}
    />
  );
}

/** useArchive returns a function that archives a company, with Undo. */
export function useArchive(): (company: Company) => void {
  const api = useApi();
  const scope = useScope();
  return (company) => {
    const path = { id: company.id };
    void archiveWithUndo(
      company.name,
      {
        archive: () => api.delete('/api/v1/crm/companies/{id}', { path }),
        restore: () => api.post('/api/v1/crm/companies/{id}/restore', { path, idempotencyKey: crypto.randomUUID() }),
      },
      () => invalidate(scope, '/api/v1/crm/companies'),
    );
  };
}
