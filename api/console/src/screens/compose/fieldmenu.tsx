import { Button } from '@/ui/button';
import { Menu, type MenuEntry } from '@/ui/menu';
import { mergeFields } from '../mail/merge';
import { splitFields, type MergeField } from './fields';
import { t } from './messages';

/** FieldMenu inserts a merge field. custom has the names of the org's own fields, by key. */
export function FieldMenu({ custom, onInsert, returnTo }: {
  custom: ReadonlyMap<string, string>;
  onInsert: (field: MergeField) => void;
  returnTo: () => HTMLElement | null;
}) {
  const items = (group: readonly { name: string; text: string }[]): MenuEntry[] =>
    group.flatMap(({ name, text }) => {
      const [field] = splitFields(text);
      return typeof field === 'object' ? [{ label: name, onSelect: () => onInsert(field) }] : [];
    });
  const own = [...custom].map(([key, label]) => ({
    label,
    onSelect: () => onInsert({ path: `contact.attributes.${key}`, fallback: null }),
  }));
  return (
    <Menu
      trigger={
        <Button size="small" kind="quiet" icon="plus">
          {t('insert')}
        </Button>
      }
      returnTo={returnTo}
      items={[
        t('contact'),
        ...items(mergeFields.contact),
        ...own,
        t('company'),
        ...items(mergeFields.company),
        t('sender'),
        ...items(mergeFields.sender),
        t('links'),
        ...items(mergeFields.links),
      ]}
    />
  );
}
