import { useState } from 'react';
import { Button } from '@/ui/button';
import { Field } from '@/ui/field';
import { htmlToBody } from '../compose/input';
import { RichBody } from '../compose/lazy';
import { toHtml } from '../compose/output';
import mail from '../mail/mail.module.css';
import { MergeText } from '../mail/mergetext';
import { t } from './messages';

/** HTMLField edits the HTML of a block: with formatting if the editor knows all that is in it, else as it is. */
export function HTMLField({ value, pointer, onChange }: {
  value: string;
  pointer: string;
  onChange: (html: string) => void;
}) {
  const [body, setBody] = useState(() => htmlToBody(value));
  if (body === null) {
    return (
      <Field label={t('html')} pointer={pointer} help={t('blockHtmlHelp')}>
        <MergeText label={t('html')} rows={6} value={value} onChange={onChange} />
      </Field>
    );
  }
  return (
    <div className={mail.tight}>
      <span className={mail.label}>{t('text')}</span>
      <RichBody initial={body} pointer={pointer} label={t('text')} onChange={(next) => onChange(toHtml(next))} />
      <div className={mail.buttons}>
        <Button size="small" kind="quiet" onClick={() => setBody(null)}>
          {t('asHtml')}
        </Button>
      </div>
    </div>
  );
}
