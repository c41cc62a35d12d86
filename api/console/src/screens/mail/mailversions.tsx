import { useState, type ReactNode } from 'react';
import { messages } from '@/lib/messages';
import { Button, IconButton } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Badge } from '@/ui/status';
import { MergeText } from './mergetext';
import { PreviewDialog } from './preview';
import { addVariant, changeVariant, mostVariants, partsOf, removeVariant, type Parts, type Versions } from './variants';
import styles from './mail.module.css';

const t = messages({
  subject: 'Subject',
  text: 'Text',
  preview: 'Preview',
  html: 'This mail is written in HTML. Changes here replace the text part only.',
  toText: 'Write as text',
  variant: 'Variant {key}',
  weight: 'Weight',
  stopped: 'Stopped: another one is better',
  remove: 'Delete variant {key}',
  compare: 'Compare variants',
  add: 'Add variant',
  help: 'Each contact gets one of them, in proportion to the weights.',
});

type PartName = keyof Parts;

/** What the fields of a mail have in common. */
interface Shared {
  /** What is wrong at a pointer within the mail: "/subject", "/variants/1/text", "" for all of it. */
  at?: (pointer: string) => string | undefined;
  /** Where the mail is in the request of the form around it: "/email". */
  pointer: string;
  /** The text comes from a template, so that only the subject is written here. */
  subjectOnly?: boolean;
  /** Said of a subject that may be empty, for example that it is then the template's. */
  subjectHelp?: string | undefined;
  textHelp: string;
}

/** MailVersions edits a mail, or the variants of it that are compared. */
export function MailVersions<M extends Versions>(props: Shared & {
  mail: M;
  onChange: (next: M) => void;
  mailbox: string | null;
  disabled: boolean;
  /** What is shown below variants. */
  children?: ReactNode;
}) {
  const { mail, onChange, mailbox, disabled, children, ...shared } = props;
  const [previewed, setPreviewed] = useState<Parts | null>(null);
  const { variants } = mail;
  const remove = (key: string) => onChange(removeVariant(mail, key));
  return (
    <>
      {variants.length === 0 ? (
        <MailParts
          {...shared}
          value={mail}
          onChange={(change) => onChange({ ...mail, ...change })}
          onPreview={() => setPreviewed(mail)}
        />
      ) : (
        variants.map(({ key, ...variant }, i) => {
          const name = key.toUpperCase();
          const pointer = `/variants/${i}`;
          return (
            <fieldset key={key} className={styles.variant}>
              <legend className={styles.legend}>{t('variant', { key: name })}</legend>
              <div className={styles.variantHead}>
                <Field
                  label={t('weight')}
                  pointer={`${shared.pointer}${pointer}/weight`}
                  error={shared.at?.(`${pointer}/weight`)}
                >
                  <Input
                    type="number"
                    min={1}
                    max={100}
                    className="num"
                    value={variant.weight}
                    onChange={(event) => onChange(changeVariant(mail, key, { weight: Number(event.target.value) }))}
                  />
                </Field>
                {variant.stopped_at !== undefined && <Badge>{t('stopped')}</Badge>}
                {!disabled && (
                  <IconButton icon="trash" label={t('remove', { key: name })} onClick={() => remove(key)} />
                )}
              </div>
              <MailParts
                {...shared}
                pointer={shared.pointer + pointer}
                at={(inner) => shared.at?.(pointer + inner)}
                value={variant}
                onChange={(change) => onChange(changeVariant(mail, key, change))}
                onPreview={() => setPreviewed(partsOf(mail, variant))}
              />
            </fieldset>
          );
        })
      )}
      {variants.length > 0 && children}
      {!disabled && variants.length < mostVariants && (
        <div className={styles.buttons}>
          <Button size="small" icon="plus" onClick={() => onChange(addVariant(mail))}>
            {variants.length === 0 ? t('compare') : t('add')}
          </Button>
          {variants.length > 0 && <span className="meta">{t('help')}</span>}
        </div>
      )}
      {previewed !== null && (
        <PreviewDialog mail={previewed} mailbox={mailbox} onClose={() => setPreviewed(null)} />
      )}
    </>
  );
}

function MailParts({ value, onChange, onPreview, at, pointer, subjectOnly, subjectHelp, textHelp }: Shared & {
  value: Parts;
  onChange: (change: Partial<Parts>) => void;
  onPreview: () => void;
}) {
  const wrong = (name: PartName) => at?.(`/${name}`);
  return (
    <>
      <Field
        label={t('subject')}
        pointer={`${pointer}/subject`}
        error={wrong('subject')}
        optional={subjectHelp !== undefined}
        help={subjectHelp}
      >
        <Input value={value.subject} onChange={(event) => onChange({ subject: event.target.value })} />
      </Field>
      {!subjectOnly && (
        <>
          <Field
            label={t('text')}
            pointer={`${pointer}/text`}
            error={wrong('text') ?? wrong('html') ?? at?.('')}
            help={textHelp}
          >
            <MergeText label={t('text')} rows={10} value={value.text} onChange={(text) => onChange({ text })} />
          </Field>
          {value.html !== '' && (
            <div className={styles.buttons}>
              <span className={styles.help}>{t('html')}</span>
              <Button size="small" kind="quiet" onClick={() => onChange({ html: '' })}>
                {t('toText')}
              </Button>
            </div>
          )}
          <div className={styles.buttons}>
            <Button size="small" icon="eye" onClick={onPreview}>
              {t('preview')}
            </Button>
          </div>
        </>
      )}
    </>
  );
}
