import { useRef } from 'react';
import { messages } from '@/lib/messages';
import { useRead } from '@/lib/read';
import { Button } from '@/ui/button';
import { Textarea } from '@/ui/field';
import { Menu } from '@/ui/menu';
import { insertAt, mergeFields } from './merge';
import styles from './mail.module.css';

const t = messages({
  insert: 'Insert field',
  contact: 'Contact',
  company: 'Company',
  sender: 'Sender',
  links: 'Links',
  custom: 'Custom fields',
});

/** MergeText is the plain text of a mail, with a menu of the merge fields that go in at the cursor. */
export function MergeText({ label, value, onChange, rows = 8 }: {
  label: string;
  value: string;
  onChange: (text: string) => void;
  rows?: number;
}) {
  const area = useRef<HTMLDivElement>(null);
  const custom = useRead('/api/v1/crm/fields', { query: { limit: 200 } });
  const field = () => area.current?.querySelector('textarea') ?? null;
  const insert = (text: string) => {
    const box = field();
    const next = insertAt(value, text, box?.selectionStart ?? value.length, box?.selectionEnd ?? value.length);
    onChange(next.text);
    requestAnimationFrame(() => box?.setSelectionRange(next.cursor, next.cursor));
  };
  const own = custom.data?.data ?? [];
  const item = ({ name, text }: { name: string; text: string }) => ({ label: name, onSelect: () => insert(text) });
  return (
    <div className={styles.tight} ref={area}>
      <Textarea rows={rows} aria-label={label} value={value} onChange={(event) => onChange(event.target.value)} />
      <div className={styles.buttons}>
        <Menu
          trigger={
            <Button size="small" kind="quiet" icon="plus">
              {t('insert')}
            </Button>
          }
          returnTo={field}
          items={[
            t('contact'),
            ...mergeFields.contact.map(item),
            ...own.map((one) =>
              item({ name: one.label, text: `{{ contact.attributes.${one.key} | default: "" }}` }),
            ),
            t('company'),
            ...mergeFields.company.map(item),
            t('sender'),
            ...mergeFields.sender.map(item),
            t('links'),
            ...mergeFields.links.map(item),
          ]}
        />
      </div>
    </div>
  );
}
