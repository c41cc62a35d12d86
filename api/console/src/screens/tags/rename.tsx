import { useState } from 'react';
import { describe } from '@/lib/describe';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Callout } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { useTags } from '../record/directory';
import { t } from './messages';
import type { Tag } from './tags';

/** RenameTag renames a tag, or merges it into the one that has the name. */
export function RenameTag({ tag, onClose, onBegun }: {
  tag: Tag;
  onClose: () => void;
  /** Called with the id of the bulk change. */
  onBegun: (id: string) => void;
}) {
  const api = useApi();
  const tags = useTags();
  const [name, setName] = useState(tag.name);
  const wanted = name.trim();
  const other = tags.some(({ value }) => value === wanted && value !== tag.name);
  const rename = useSubmit(
    (to: string, idempotencyKey) =>
      api.patch('/api/v1/crm/tags/{tag}', { path: { tag: tag.name }, body: { name: to }, idempotencyKey }),
    ({ data }) => {
      onBegun(data.id);
      onClose();
    },
  );
  return (
    <Dialog open onClose={onClose} title={t('renameTitle', { name: tag.name })} intro={t('renameIntro')} keep={name !== tag.name}>
      <Form problem={describe(rename.error)} onSubmit={() => wanted !== '' && void rename.submit(wanted)}>
        <Field label={t('newName')} pointer="/name" help={t('nameHelp')}>
          <Input autoFocus autoComplete="off" maxLength={64} value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        {other && <Callout tone="warn">{t('merges', { name: wanted, old: tag.name })}</Callout>}
        <div>
          <Button kind="primary" type="submit" busy={rename.busy} disabled={wanted === '' || wanted === tag.name}>
            {other ? t('mergeInto', { name: wanted }) : t('save')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
