import { useApi } from '@/lib/services';
import { invalidate, useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import type { Answer } from '@/lib/api';
import { Checkbox } from '@/ui/checkbox';
import { Combobox } from '@/ui/combobox';
import { Id } from '@/ui/copy';
import { Badge } from '@/ui/status';
import { Time } from '@/ui/time';
import { CompanyChoice } from '../record/companychoice';
import { Conflict } from '../record/conflict';
import { useMembers, useSegments, useStages, useTags } from '../record/directory';
import { useEditing, type Editing } from '../record/editing';
import { Fact, FactList, Nothing, SelectFact, TextFact } from '../record/fact';
import { GoLink } from '../record/golink';
import { label } from '../record/label';
import type { Contact } from '../record/types';
import { t } from './messages';
import styles from '../record/record.module.css';

const names = {
  email: t('email'),
  first_name: t('firstName'),
  last_name: t('lastName'),
  phone: t('phone'),
  job_title: t('job'),
  source: t('source'),
  time_zone: t('timeZone'),
  company_id: t('company'),
  owner_id: t('owner'),
  stage: t('stage'),
  tag: t('tags'),
  segment: t('segments'),
  attributes: t('fields'),
};

/** contactTarget names the read of a contact; the editing of it replaces what was read. */
export const contactTarget = (id: string) => ({ path: { id }, query: { include_archived: true } });

/** useContactEditing saves the fields of a contact one by one. */
export function useContactEditing(answer: Answer<Contact>): Editing<Contact> {
  const api = useApi();
  const scope = useScope();
  const may = useMay('member') && answer.data.archived_at === null;
  const path = { id: answer.data.id };
  return useEditing<Contact>(
    answer,
    ['/api/v1/crm/contacts/{id}', contactTarget(path.id)],
    may,
    {
      patch: (body, ifMatch, idempotencyKey) =>
        api.patch('/api/v1/crm/contacts/{id}', { path, body, ifMatch, idempotencyKey }),
      get: () => api.get('/api/v1/crm/contacts/{id}', { path }),
    },
    () => invalidate(scope, '/api/v1/crm/contacts', '/api/v1/crm/contacts/{id}/timeline'),
  );
}

/** ContactFacts are the facts of a contact, edited in place. */
export function ContactFacts({ answer }: { answer: Answer<Contact> }) {
  const editing = useContactEditing(answer);
  const { value } = editing;
  const stages = useStages();
  const members = useMembers();
  const show = (field: string, one: unknown) => {
    if (field === 'owner_id' && typeof one === 'string') return members.nameOf(one);
    return field === 'stage' && typeof one === 'string' ? label(one) : undefined;
  };
  return (
    <>
      <section className={styles.section}>
        <h2>{t('about')}</h2>
        <FactList label={t('about')}>
          <TextFact name={t('firstName')} field="first_name" editing={editing} value={value.first_name}
            change={(text) => ({ first_name: text ?? '' })} />
          <TextFact name={t('lastName')} field="last_name" editing={editing} value={value.last_name}
            change={(text) => ({ last_name: text ?? '' })} />
          <TextFact name={t('email')} field="email" type="email" required editing={editing} value={value.email}
            link={`mailto:${value.email}`} change={(text) => ({ email: text ?? '' })} />
          <TextFact name={t('phone')} field="phone" type="tel" editing={editing} value={value.phone ?? ''}
            link={value.phone === null ? undefined : `tel:${value.phone}`} change={(phone) => ({ phone })} />
          <TextFact name={t('job')} field="job_title" editing={editing} value={value.job_title ?? ''}
            change={(job_title) => ({ job_title })} />
          <CompanyFact editing={editing} />
          <SelectFact name={t('stage')} field="stage" editing={editing} value={value.stage} options={stages}
            change={(stage) => (stage === null ? {} : { stage })} />
          <SelectFact name={t('owner')} field="owner_id" editing={editing} value={value.owner_id}
            options={members.options} none={t('noOwner')} change={(owner_id) => ({ owner_id })} />
          <TextFact name={t('source')} field="source" editing={editing} value={value.source ?? ''}
            change={(source) => ({ source })} />
          <TextFact name={t('timeZone')} field="time_zone" editing={editing} value={value.time_zone ?? ''}
            change={(time_zone) => ({ time_zone })} />
        </FactList>
      </section>
      <section className={styles.section}>
        <h2>{t('belongs')}</h2>
        <FactList label={t('belongs')}>
          <TagsFact editing={editing} />
          <SegmentsFact editing={editing} />
        </FactList>
      </section>
      <CustomFields editing={editing} />
      <section className={styles.section}>
        <FactList label={t('id')}>
          <Fact name={t('added')}>
            <span className={styles.text}>
              <Time at={value.created_at} />
            </span>
          </Fact>
          <Fact name={t('lastChanged')}>
            <span className={styles.text}>
              <Time at={value.updated_at} />
            </span>
          </Fact>
          <Fact name={t('id')}>
            <span className={styles.text}>
              <Id id={value.id} />
            </span>
          </Fact>
        </FactList>
      </section>
      <Conflict editing={editing} names={names} show={show} />
    </>
  );
}

function CompanyFact({ editing }: { editing: Editing<Contact> }) {
  const id = editing.value.company_id;
  return id === null ? <CompanyField editing={editing} name={null} /> : <KnownCompany editing={editing} id={id} />;
}

function KnownCompany({ editing, id }: { editing: Editing<Contact>; id: string }) {
  const company = useRead('/api/v1/crm/companies/{id}', { path: { id } });
  return <CompanyField editing={editing} name={company.data?.name ?? (company.pending ? '…' : `…${id.slice(-6)}`)} />;
}

function CompanyField({ editing, name }: { editing: Editing<Contact>; name: string | null }) {
  const id = editing.value.company_id;
  if (!editing.may) {
    return (
      <Fact name={t('company')}>
        <span className={styles.text}>
          {id === null ? <Nothing /> : <GoLink href={`/app/companies/${id}`}>{name}</GoLink>}
        </span>
      </Fact>
    );
  }
  return (
    <Fact name={t('company')} field="company_id" editing={editing}>
      <div className={styles.chips}>
        <CompanyChoice
          value={id === null ? null : { value: id, label: name ?? '' }}
          onChange={(company) => void editing.save({ company_id: company?.value ?? null })}
        />
      </div>
      {id !== null && (
        <GoLink className={styles.follow} href={`/app/companies/${id}`} aria-label={`${t('open')} ${name}`}>
          →
        </GoLink>
      )}
    </Fact>
  );
}

function TagsFact({ editing }: { editing: Editing<Contact> }) {
  const known = useTags();
  const { tag } = editing.value;
  if (!editing.may) {
    return (
      <Fact name={t('tags')}>
        <Badges of={tag} />
      </Fact>
    );
  }
  const set = (tags: string[]) => void editing.save({ tag: tags });
  return (
    <Fact name={t('tags')} field="tag" editing={editing}>
      <div className={styles.chips}>
        <Combobox
          label={t('tags')}
          multiple
          placeholder={t('addTag')}
          options={known}
          value={tag.map((value) => ({ value, label: value }))}
          onChange={(chosen) => set(chosen.map((one) => one.value))}
          onCreate={(name) => set([...tag, name])}
        />
      </div>
    </Fact>
  );
}

/** Static segments are written; dynamic ones follow from their filter, so they are only shown. */
function SegmentsFact({ editing }: { editing: Editing<Contact> }) {
  const known = useSegments();
  const { segment } = editing.value;
  const titleOf = (key: string) => known.find((one) => one.value === key)?.label ?? key;
  const writable = known.filter((one) => one.isStatic);
  const isWritable = (key: string) => writable.some((one) => one.value === key);
  if (!editing.may || writable.length === 0) {
    return (
      <Fact name={t('segments')}>
        <Badges of={segment.map(titleOf)} />
      </Fact>
    );
  }
  const fixed = segment.filter((key) => !isWritable(key));
  return (
    <Fact name={t('segments')} field="segment" editing={editing}>
      <div>
        {fixed.length > 0 && <Badges of={fixed.map(titleOf)} />}
        <div className={styles.chips}>
          <Combobox
            label={t('segments')}
            multiple
            options={writable}
            placeholder={t('addTo')}
            value={segment.filter(isWritable).map((value) => ({ value, label: titleOf(value) }))}
            onChange={(chosen) => void editing.save({ segment: [...fixed, ...chosen.map((one) => one.value)] })}
          />
        </div>
      </div>
    </Fact>
  );
}

function Badges({ of }: { of: readonly string[] }) {
  if (of.length === 0) {
    return (
      <span className={styles.text}>
        <Nothing />
      </span>
    );
  }
  return (
    <span className={styles.badges}>
      {of.map((one) => (
        <Badge key={one}>{one}</Badge>
      ))}
    </span>
  );
}

/** The org's own fields. */
function CustomFields({ editing }: { editing: Editing<Contact> }) {
  const fields = useRead('/api/v1/crm/fields', { query: { limit: 200 } });
  const { attributes } = editing.value;
  const all = fields.data?.data ?? [];
  if (all.length === 0) return null;
  const set = (key: string, value: unknown) => ({ attributes: { ...attributes, [key]: value } });
  return (
    <section className={styles.section}>
      <h2>{t('fields')}</h2>
      <FactList label={t('fields')}>
        {all.map(({ key, label: title, type }) => {
          const value = attributes[key];
          const name = title === key ? label(key) : title;
          if (type === 'boolean') {
            return (
              <Fact key={key} name={name}>
                <span className={styles.text}>
                  <Checkbox
                    label={name}
                    hideLabel
                    checked={value === true}
                    disabled={!editing.may}
                    onChange={(on) => void editing.save(set(key, on))}
                  />
                </span>
              </Fact>
            );
          }
          return (
            <TextFact
              key={key}
              name={name}
              field="attributes"
              editing={editing}
              type={type === 'string' ? 'text' : type}
              value={value === undefined || value === null ? '' : String(value)}
              change={(text) => set(key, text === null ? null : type === 'number' ? Number(text) : text)}
            />
          );
        })}
      </FactList>
    </section>
  );
}
