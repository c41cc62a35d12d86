import type { Answer } from '@/lib/api';
import { invalidate } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Id } from '@/ui/copy';
import { Time } from '@/ui/time';
import { Conflict } from '../record/conflict';
import { useMembers } from '../record/directory';
import { useEditing } from '../record/editing';
import { Fact, FactList, SelectFact, TextFact } from '../record/fact';
import type { Company } from '../record/types';
import { t } from './messages';
import styles from '../record/record.module.css';

const names = {
  name: t('name'),
  domain: t('domain'),
  website: t('website'),
  industry: t('industry'),
  size: t('size'),
  phone: t('phone'),
  owner_id: t('owner'),
};

/** companyTarget names the read of a company; the editing of it replaces what was read. */
export const companyTarget = (id: string) => ({ path: { id }, query: { include_archived: true } });

/** CompanyFacts are the facts of a company, edited in place. */
export function CompanyFacts({ answer }: { answer: Answer<Company> }) {
  const api = useApi();
  const scope = useScope();
  const members = useMembers();
  const path = { id: answer.data.id };
  const may = useMay('member') && answer.data.archived_at === null;
  const editing = useEditing<Company>(
    answer,
    ['/api/v1/crm/companies/{id}', companyTarget(path.id)],
    may,
    {
      patch: (body, ifMatch, idempotencyKey) =>
        api.patch('/api/v1/crm/companies/{id}', { path, body, ifMatch, idempotencyKey }),
      get: () => api.get('/api/v1/crm/companies/{id}', { path }),
    },
    () => invalidate(scope, '/api/v1/crm/companies'),
  );
  const { value } = editing;
  const show = (field: string, one: unknown) =>
    field === 'owner_id' && typeof one === 'string' ? members.nameOf(one) : undefined;
  return (
    <>
      <section className={styles.section}>
        <h2>{t('about')}</h2>
        <FactList label={t('about')}>
          <TextFact name={t('name')} field="name" required editing={editing} value={value.name}
            change={(text) => ({ name: text ?? '' })} />
          <TextFact name={t('domain')} field="domain" editing={editing} value={value.domain ?? ''}
            change={(domain) => ({ domain })} />
          <TextFact name={t('website')} field="website" type="url" editing={editing} value={value.website ?? ''}
            link={webAddress(value.website)} change={(website) => ({ website })} />
          <TextFact name={t('industry')} field="industry" editing={editing} value={value.industry ?? ''}
            change={(industry) => ({ industry })} />
          <TextFact name={t('size')} field="size" editing={editing} value={value.size ?? ''}
            change={(size) => ({ size })} />
          <TextFact name={t('phone')} field="phone" type="tel" editing={editing} value={value.phone ?? ''}
            link={value.phone === null ? undefined : `tel:${value.phone}`} change={(phone) => ({ phone })} />
          <SelectFact name={t('owner')} field="owner_id" editing={editing} value={value.owner_id}
            options={members.options} none={t('noOwner')} change={(owner_id) => ({ owner_id })} />
        </FactList>
      </section>
      <section className={styles.section}>
        <FactList label={t('id')}>
          <Fact name={t('added')}>
            <span className={styles.text}>
              <Time at={value.created_at} />
            </span>
          </Fact>
          <Fact name={t('changed')}>
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

/** webAddress returns the address as a link; undefined for one that is not of the web, such as javascript:. */
function webAddress(website: string | null): string | undefined {
  return website !== null && /^https?:/i.test(website) ? website : undefined;
}
