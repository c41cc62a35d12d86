import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { formatDay } from '@/lib/intl';
import { randomId } from '@/lib/random';
import { invalidate, readOptions, useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { Dialog } from '@/ui/dialog';
import { Callout, Skeleton } from '@/ui/feedback';
import { Form } from '@/ui/form';
import { toast } from '@/ui/toast';
import { useMembers } from '../record/directory';
import { label } from '../record/label';
import { report } from '../record/report';
import { nameOf, type Contact } from '../record/types';
import { fieldWord } from '../segments/words';
import { byRule, changesFor, type Choice, fieldsOf, united, valueOf } from './choice';
import type { Group } from './duplicates';
import { t } from './messages';
import { useUnmerge } from './unmerge';
import styles from './duplicates.module.css';

const columnsMax = 4;

/** Compare shows the contacts of a group beside each other, and merges them with the chosen values. */
export function Compare({ group, onClose }: { group: Group; onClose: () => void }) {
  const api = useApi();
  const shown = group.contacts.slice(0, columnsMax);
  const reads = useQueries({
    queries: shown.map(({ id }) => readOptions(api, '/api/v1/crm/contacts/{id}', { path: { id } })),
  });
  const failed = reads.find((read) => read.error !== null);
  const contacts = reads.flatMap((read) => (read.data === undefined ? [] : [read.data.data]));
  return (
    <Dialog open wide onClose={onClose} title={t('compareTitle')} intro={t('compareIntro')}>
      {failed !== undefined ? (
        <Failure error={failed.error} again={() => void failed.refetch()} />
      ) : contacts.length < shown.length ? (
        <Skeleton width="60%" />
      ) : (
        <Merge contacts={contacts} isCut={shown.length < group.contacts.length} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Merge({ contacts, isCut, onClose }: {
  contacts: readonly Contact[];
  /** The group has more contacts than are shown. */
  isCut: boolean;
  onClose: () => void;
}) {
  const [survivor, setSurvivor] = useState(contacts[0]?.id ?? '');
  const [without, setWithout] = useState<ReadonlySet<string>>(new Set());
  const [own, setOwn] = useState<Choice>({});
  const merged = contacts.filter(({ id }) => !without.has(id));
  const rows = fieldsOf(merged);
  const rule = byRule(merged, survivor);
  const isThere = (from: string | undefined) => from !== undefined && merged.some(({ id }) => id === from);
  const choice: Choice = Object.fromEntries(
    Object.entries(rule).map(([field, from]) => [field, isThere(own[field]) ? (own[field] ?? from) : from]),
  );
  const submit = useMerge(onClose);
  const keep = (id: string) => {
    setSurvivor(id);
    setWithout((old) => new Set([...old].filter((one) => one !== id)));
  };
  const include = (id: string, on: boolean) =>
    setWithout((old) => new Set(on ? [...old].filter((one) => one !== id) : [...old, id]));
  const name = useNames();
  return (
    <Form
      className={styles.form}
      problem={describe(submit.error)}
      onSubmit={() => merged.length > 1 && void submit.submit({ contacts: merged, survivor, choice })}
    >
      <div className={styles.scroll} tabIndex={0} role="region" aria-label={t('compareTitle')}>
        <table className={styles.compare}>
          <thead>
            <tr>
              <td />
              {contacts.map((contact) => (
                <th key={contact.id} scope="col" data-out={without.has(contact.id) || undefined}>
                  <span className={styles.who}>{nameOf(contact)}</span>
                  <label className={styles.radio}>
                    <input
                      type="radio"
                      name="survivor"
                      checked={contact.id === survivor}
                      aria-label={t('keepThis', { name: nameOf(contact) })}
                      onChange={() => keep(contact.id)}
                    />
                    {t('stays')}
                  </label>
                  {contacts.length > 2 && contact.id !== survivor && (
                    <Checkbox
                      label={t('include')}
                      checked={!without.has(contact.id)}
                      onChange={(on) => include(contact.id, on)}
                    />
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">{t('address')}</th>
              {contacts.map((contact) => (
                <td key={contact.id} data-chosen={contact.id === survivor || undefined}>
                  {contact.email}
                </td>
              ))}
            </tr>
            {rows.map(({ field, differs }) => (
              <tr key={field}>
                <th scope="row">{name.field(field)}</th>
                {contacts.map((contact) => {
                  const value = valueOf(contact, field);
                  const isOut = without.has(contact.id) || value === null;
                  return (
                    <td key={contact.id} data-chosen={(!isOut && choice[field] === contact.id) || undefined}>
                      {value !== null &&
                        (differs && !isOut ? (
                          <label className={styles.radio}>
                            <input
                              type="radio"
                              name={field}
                              checked={choice[field] === contact.id}
                              aria-label={t('valueOf', { field: name.field(field), name: nameOf(contact) })}
                              onChange={() => setOwn({ ...own, [field]: contact.id })}
                            />
                            {name.value(field, value)}
                          </label>
                        ) : (
                          name.value(field, value)
                        ))}
                    </td>
                  );
                })}
              </tr>
            ))}
            {(['tag', 'segment'] as const).map(
              (of) =>
                united(merged, of).length > 0 && (
                  <tr key={of}>
                    <th scope="row">{t(of === 'tag' ? 'tags' : 'segments')}</th>
                    <td colSpan={contacts.length} data-chosen>
                      {united(merged, of).join(', ')}
                    </td>
                  </tr>
                ),
            )}
            <tr>
              <th scope="row">{t('added')}</th>
              {contacts.map((contact) => (
                <td key={contact.id}>{formatDay(contact.created_at)}</td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
      <p className={styles.soft}>{t('addressNote')}</p>
      {isCut && <Callout>{t('tooMany', { count: columnsMax })}</Callout>}
      <div>
        <Button kind="primary" type="submit" busy={submit.busy} disabled={merged.length < 2}>
          {t('merge', { count: merged.length })}
        </Button>
      </div>
    </Form>
  );
}

interface Merging {
  contacts: readonly Contact[];
  survivor: string;
  choice: Choice;
}

/** Merges, then gives the survivor the values that were chosen against the rule. */
function useMerge(done: () => void) {
  const api = useApi();
  const scope = useScope();
  const unmerge = useUnmerge();
  return useSubmit(
    async ({ contacts, survivor, choice }: Merging, idempotencyKey) => {
      const loser_ids = contacts.map(({ id }) => id).filter((id) => id !== survivor);
      const path = { id: survivor };
      const { data } = await api.post('/api/v1/crm/contacts/{id}/merge', { path, body: { loser_ids }, idempotencyKey });
      const body = changesFor(contacts, survivor, choice);
      if (body !== null) {
        await api
          .patch('/api/v1/crm/contacts/{id}', { path, body, idempotencyKey: randomId() })
          .catch((error: unknown) => report(t('valuesFailed'), error));
      }
      return data;
    },
    (merge) => {
      invalidate(scope, '/api/v1/crm/contacts', '/api/v1/crm/merges');
      toast({ title: t('mergeDone', { name: nameOf(merge.contact) }), onUndo: () => void unmerge(merge.id) });
      done();
    },
  );
}

/** The names of fields and of what they refer to. */
function useNames() {
  const fields = useRead('/api/v1/crm/fields', { query: { limit: 200 } });
  const custom = new Map((fields.data?.data ?? []).map((one) => [one.key, one.label]));
  const members = useMembers();
  return {
    field: (field: string) => fieldWord(field, custom),
    value: (field: string, value: string) => {
      if (field === 'owner_id') return members.nameOf(value);
      if (field === 'company_id') return <Company id={value} />;
      return field === 'stage' ? label(value) : value;
    },
  };
}

function Company({ id }: { id: string }) {
  const company = useRead('/api/v1/crm/companies/{id}', { path: { id } });
  return <>{company.data?.name ?? `…${id.slice(-8)}`}</>;
}
