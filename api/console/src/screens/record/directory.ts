import { useRead } from '@/lib/read';
import { useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import type { Option } from '@/ui/select';
import { label } from './label';
import { t } from './messages';

/** useStages returns the stages of the org's contacts as options. */
export function useStages(): Option[] {
  const org = useRead('/api/v1/org');
  const stages = org.data?.settings['stages'];
  if (!Array.isArray(stages)) return [];
  return stages.filter((one) => typeof one === 'string').map((value) => ({ value, label: label(value) }));
}

/** useTags returns the tags in use. */
export function useTags(): Option[] {
  const tags = useRead('/api/v1/crm/tags', { query: { limit: 200 } });
  return (tags.data?.data ?? []).map(({ name, contacts, more }) => ({
    value: name,
    label: name,
    hint: more ? `${contacts.toLocaleString('en')}+` : contacts.toLocaleString('en'),
  }));
}

/** useSegments returns the segments. A static one can be written; the members of a dynamic one follow from its filter. */
export function useSegments(): (Option & { isStatic: boolean })[] {
  const segments = useRead('/api/v1/crm/segments', { query: { limit: 200 } });
  return (segments.data?.data ?? []).map(({ key, name, kind, contact_count }) => ({
    value: key,
    label: name,
    hint: contact_count.toLocaleString('en'),
    isStatic: kind === 'static',
  }));
}

export interface Members {
  options: Option[];
  /** nameOf returns the name of a member; "You" for oneself. */
  nameOf: (id: string) => string;
  /** Like nameOf, with the name for oneself, too: what an avatar shows. */
  fullNameOf: (id: string) => string;
  /** Like nameOf, for the middle of a sentence. */
  nameWithin: (id: string) => string;
}

/** useMembers returns the people who may own records. */
export function useMembers(): Members {
  const members = useRead('/api/v1/members', { query: { limit: 200 } });
  const own = useStore(useServices().session.state).grant?.user?.id;
  const active = (members.data?.data ?? [])
    .filter((member) => member.status === 'active')
    .map(({ id, first_name, last_name, email }) => ({ id, name: `${first_name} ${last_name}`.trim() || email }));
  const options = active.map(({ id, name }) => ({ value: id, label: id === own ? t('nameYou', { name }) : name }));
  const names = new Map(active.map(({ id, name }) => [id, name]));
  const other = (id: string) => names.get(id) ?? t('formerMember');
  return {
    options,
    fullNameOf: other,
    nameOf: (id) => (id === own ? t('you') : other(id)),
    nameWithin: (id) => (id === own ? t('youWithin') : other(id)),
  };
}
