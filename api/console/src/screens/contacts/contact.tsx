import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import type { Answer } from '@/lib/api';
import { invalidate, useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Avatar } from '@/ui/avatar';
import { Button, IconButton } from '@/ui/button';
import { Callout, Skeleton } from '@/ui/feedback';
import { Icon } from '@/ui/icon';
import { Menu, type MenuItem } from '@/ui/menu';
import { PageHead } from '@/ui/page';
import { ScoreRing } from '@/ui/score';
import { Tabs } from '@/ui/tabs';
import { WriteMail } from '../compose/action';
import { ScheduledMails } from '../compose/scheduled';
import { Deals } from '../record/deals';
import { GoLink } from '../record/golink';
import { t as common } from '../record/messages';
import { Notes } from '../record/notes';
import { Story } from '../record/story';
import { Tasks } from '../record/tasks';
import { nameOf, type Contact } from '../record/types';
import { neighboursOf } from '../record/neighbours';
import { useArchive } from './archive';
import { ContactFacts, contactTarget } from './facts';
import { t } from './messages';
import { useContacts, useShownSearch } from './neighbours';
import styles from '../record/record.module.css';

/** ContactPage is one contact: facts at the left, story at the right. */
export function ContactPage() {
  const { id } = useParams({ from: '/app/contacts/$id' });
  const contact = useRead('/api/v1/crm/contacts/{id}', contactTarget(id));
  const navigate = useNavigate();
  const search = useShownSearch();
  const { previous, next } = neighboursOf(useContacts(search), id);
  const go = (to?: Contact) => to && void navigate({ to: '/app/contacts/$id', params: { id: to.id } });
  const back = () => void navigate({ to: '/app/contacts', search });
  useCommands([
    { id: 'contact.previous', label: t('previous'), keys: '[', keyOnly: true, run: () => go(previous) },
    { id: 'contact.next', label: t('next'), keys: ']', keyOnly: true, run: () => go(next) },
    { id: 'contact.back', label: t('back'), keys: 'esc', keyOnly: true, run: back },
  ]);
  return (
    <>
      <PageHead
        title={contact.data ? nameOf(contact.data) : t('title')}
        before={<IconButton icon="left" label={t('back')} keys="esc" onClick={back} />}
      >
        <IconButton icon="up" label={t('previous')} keys="[" disabled={!previous} onClick={() => go(previous)} />
        <IconButton icon="down" label={t('next')} keys="]" disabled={!next} onClick={() => go(next)} />
        {contact.data && <ContactActions contact={contact.data} />}
      </PageHead>
      {contact.answer === undefined ? (
        contact.error === null ? (
          <Skeleton width="40%" />
        ) : (
          <Failure error={contact.error} again={contact.again} />
        )
      ) : (
        <div className={styles.record}>
          <div className={styles.side}>
            <ContactSide answer={contact.answer} />
          </div>
          <section className={styles.story} aria-label={t('story')}>
            <ContactStory id={id} />
          </section>
        </div>
      )}
    </>
  );
}

/** ContactSide is what is known of a contact: who it is, its score, its facts. */
export function ContactSide({ answer }: { answer: Answer<Contact> }) {
  const contact = answer.data;
  return (
    <>
      <div className={styles.identity}>
        <Avatar name={nameOf(contact)} size="large" />
        <div className={styles.identityText}>
          <div className={styles.identityName}>{nameOf(contact)}</div>
          <div className="meta">{contact.job_title ?? contact.email}</div>
        </div>
      </div>
      {contact.archived_at !== null && <Archived contact={contact} />}
      <GoLink className={styles.scoreLine} href={`/app/contacts/${contact.id}/score`}>
        <ScoreRing score={contact.lead_score} />
        <span>{t('scoreTitle')}</span>
        <span className="meta">{t('explain')}</span>
        <Icon name="right" size={12} />
      </GoLink>
      <ContactFacts key={contact.id} answer={answer} />
    </>
  );
}

function Archived({ contact }: { contact: Contact }) {
  const api = useApi();
  const scope = useScope();
  const may = useMay('member');
  const restore = async () => {
    await api.post('/api/v1/crm/contacts/{id}/restore', {
      path: { id: contact.id },
      idempotencyKey: crypto.randomUUID(),
    });
    invalidate(scope, '/api/v1/crm/contacts');
  };
  const [error, setError] = useState<unknown>(null);
  return (
    <>
      <Callout
        tone="warn"
        title={common('isArchived')}
        {...(may && {
          action: (
            <Button size="small" onClick={() => void restore().catch(setError)}>
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

/** ContactStory has what happened, and what is noted, planned and sold. */
export function ContactStory({ id }: { id: string }) {
  const [tab, setTab] = useState<'story' | 'notes' | 'tasks' | 'deals'>('story');
  const owner = { contact_id: id };
  return (
    <div>
      <ScheduledMails key={id} contact={id} />
      <Tabs
        label={t('story')}
        value={tab}
        onChange={setTab}
        tabs={[
          { value: 'story', label: t('activity'), content: <Story key={id} id={id} /> },
          { value: 'notes', label: t('notes'), content: <Notes key={id} owner={owner} /> },
          { value: 'tasks', label: t('tasks'), content: <Tasks key={id} owner={owner} /> },
          { value: 'deals', label: t('deals'), content: <Deals key={id} owner={owner} /> },
        ]}
      />
    </div>
  );
}

/** ContactActions are the actions on one contact. */
export function ContactActions({ contact }: { contact: Contact }) {
  const archive = useArchive();
  const may = useMay('member');
  const items: MenuItem[] = [
    { label: t('copyEmail'), icon: 'copy', onSelect: () => void navigator.clipboard.writeText(contact.email) },
  ];
  if (may && contact.archived_at === null) {
    items.push({ label: t('archive'), icon: 'archive', danger: true, onSelect: () => archive(contact) });
  }
  return (
    <>
      {may && contact.archived_at === null && <WriteMail to={{ id: contact.id, name: nameOf(contact) }} />}
      <Menu align="end" trigger={<IconButton icon="more" label={t('actions')} />} items={items} />
    </>
  );
}
