import { Checkbox } from '@/ui/checkbox';
import { Field } from '@/ui/field';
import { Select } from '@/ui/select';
import { MailVersions } from '../mail/mailversions';
import { t } from './messages';
import type { PartProps } from './stepform';

/** EmailForm edits the mail of a step, and its variants. */
export function EmailForm({ step, mailbox, at, onChange, disabled }: PartProps) {
  const { email } = step;
  if (email === undefined) return null;
  const set = (change: Partial<typeof email>) => onChange({ ...step, email: { ...email, ...change } });
  const threads = [
    { value: 'new', label: t('newThread') },
    { value: 'reply', label: t('reply') },
  ] as const;
  return (
    <>
      <Field label={t('thread')} error={at('/email/thread')}>
        <Select
          label={t('thread')}
          options={threads}
          value={email.thread}
          disabled={disabled}
          onChange={(thread) => set({ thread })}
        />
      </Field>
      <MailVersions
        mail={email}
        pointer="/email"
        at={(pointer) => at(`/email${pointer}`)}
        subjectHelp={email.thread === 'reply' ? t('subjectReply') : undefined}
        textHelp={t('textHelp')}
        mailbox={mailbox}
        disabled={disabled}
        onChange={set}
      >
        <Checkbox
          label={t('auto')}
          help={t('autoHelp')}
          checked={email.auto}
          disabled={disabled}
          onChange={(auto) => set({ auto })}
        />
      </MailVersions>
    </>
  );
}
