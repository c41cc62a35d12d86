import { useState } from 'react';
import { Button, IconButton } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { Field, Input } from '@/ui/field';
import { Select } from '@/ui/select';
import { Badge } from '@/ui/status';
import mail from '../mail/mail.module.css';
import { MergeText } from '../mail/mergetext';
import { PreviewDialog } from '../mail/preview';
import { t } from './messages';
import type { PartProps } from './stepform';
import { addVariant, removeVariant } from './steps';
import styles from './sequences.module.css';

/** EmailForm edits the mail of a step, and its variants. */
export function EmailForm({ step, mailbox, at, onChange, disabled }: PartProps) {
  const { email } = step;
  const [previewed, setPreviewed] = useState<{ subject: string; text: string; html: string } | null>(null);
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
      {email.variants.length === 0 ? (
        <Mail
          value={email}
          isReply={email.thread === 'reply'}
          at={(name) => at(`/email/${name}`) ?? (name === 'text' ? at('/email') : undefined)}
          onChange={set}
          onPreview={() => setPreviewed(email)}
        />
      ) : (
        email.variants.map((variant, i) => (
          <fieldset key={variant.key} className={styles.variant}>
            <legend className={mail.legend}>{t('variant', { key: variant.key.toUpperCase() })}</legend>
            <div className={styles.variantHead}>
              <Field label={t('weight')} error={at(`/email/variants/${i}/weight`)}>
                <Input
                  type="number"
                  min={1}
                  max={100}
                  className="num"
                  value={variant.weight}
                  onChange={(event) =>
                    set({
                      variants: email.variants.map((one) =>
                        one.key === variant.key ? { ...one, weight: Number(event.target.value) } : one,
                      ),
                    })
                  }
                />
              </Field>
              {variant.stopped_at !== undefined && <Badge>{t('variantStopped')}</Badge>}
              {!disabled && (
                <IconButton
                  icon="trash"
                  label={t('removeVariant', { key: variant.key.toUpperCase() })}
                  onClick={() => onChange({ ...step, email: removeVariant(email, variant.key) })}
                />
              )}
            </div>
            <Mail
              value={variant}
              isReply={email.thread === 'reply'}
              at={(name) => at(`/email/variants/${i}/${name}`) ?? (name === 'text' ? at(`/email/variants/${i}`) : undefined)}
              onChange={(change) =>
                set({
                  variants: email.variants.map((one) => (one.key === variant.key ? { ...one, ...change } : one)),
                })
              }
              onPreview={() =>
                setPreviewed({
                  subject: variant.subject || email.subject,
                  text: variant.text || email.text,
                  html: variant.html || email.html,
                })
              }
            />
          </fieldset>
        ))
      )}
      {email.variants.length > 0 && (
        <Checkbox
          label={t('auto')}
          help={t('autoHelp')}
          checked={email.auto}
          disabled={disabled}
          onChange={(auto) => set({ auto })}
        />
      )}
      {!disabled && email.variants.length < 5 && (
        <div className={mail.buttons}>
          <Button size="small" icon="plus" onClick={() => onChange({ ...step, email: addVariant(email) })}>
            {email.variants.length === 0 ? t('compare') : t('addVariant')}
          </Button>
          {email.variants.length > 0 && <span className="meta">{t('variantsHelp')}</span>}
        </div>
      )}
      {previewed !== null && (
        <PreviewDialog mail={previewed} mailbox={mailbox} onClose={() => setPreviewed(null)} />
      )}
    </>
  );
}

type Parts = { subject: string; text: string; html: string };

function Mail({ value, isReply, at, onChange, onPreview }: {
  value: Parts;
  isReply: boolean;
  at: (name: 'subject' | 'text' | 'html') => string | undefined;
  onChange: (change: Partial<Parts>) => void;
  onPreview: () => void;
}) {
  return (
    <>
      <Field
        label={t('subject')}
        error={at('subject')}
        optional={isReply}
        {...(isReply && { help: t('subjectReply') })}
      >
        <Input value={value.subject} onChange={(event) => onChange({ subject: event.target.value })} />
      </Field>
      <Field label={t('text')} error={at('text') ?? at('html')} help={t('textHelp')}>
        <MergeText label={t('text')} value={value.text} onChange={(text) => onChange({ text })} />
      </Field>
      {value.html !== '' && (
        <div className={mail.buttons}>
          <span className={mail.help}>{t('html')}</span>
          <Button size="small" kind="quiet" onClick={() => onChange({ html: '' })}>
            {t('toText')}
          </Button>
        </div>
      )}
      <div className={mail.buttons}>
        <Button size="small" icon="eye" onClick={onPreview}>
          {t('preview')}
        </Button>
      </div>
    </>
  );
}
