import { useEffect, useState } from 'react';
import { describe } from '@/lib/describe';
import { Callout, Skeleton } from '@/ui/feedback';
import { Status } from '@/ui/status';
import { tones, usePreview } from '../mail/preview';
import preview from '../mail/preview.module.css';
import { RenderedMail } from '../mail/rendered';
import { t } from './messages';
import { findingsFor } from './findings';

type Template = Parameters<typeof usePreview>[0];
const pause = 500; // milliseconds after the last key until the mail is shown and checked

/** useShown renders the mail for its contact once the writer pauses. */
export function useShown(template: Template, contact: string, mailbox: string | null) {
  const [settled, setSettled] = useState(template);
  const text = JSON.stringify(template);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(template), pause);
    return () => clearTimeout(timer);
  }, [text]); // text stands for template
  return usePreview(settled, contact, mailbox);
}

export type Shown = ReturnType<typeof useShown>;

/** Findings lists what to correct in the mail before it is sent. It says nothing of a mail that is fine. */
export function Findings({ shown }: { shown: Shown }) {
  const list = findingsFor(shown.preview?.lint ?? []);
  const problem = shown.error === null ? null : describe(shown.error);
  const wrong = problem?.errors?.map((one) => one.detail) ?? (problem === null ? [] : [problem.detail]);
  if (list.length === 0 && wrong.length === 0) return null;
  return (
    <ul className={preview.lint} aria-label={t('lint')} aria-live="polite">
      {wrong.map((detail) => (
        <li key={detail}>
          <Status tone="bad">{t('error')}</Status>
          <span>{detail}</span>
        </li>
      ))}
      {list.map((one) => (
        <li key={`${one.code} ${one.pointer} ${one.message}`}>
          <Status tone={tones[one.severity]}>{t(one.severity)}</Status>
          <span>{one.message}</span>
        </li>
      ))}
    </ul>
  );
}

/** ShownMail shows the mail as its contact gets it. */
export function ShownMail({ shown: { preview: mail, error } }: { shown: Shown }) {
  if (error !== null || mail?.subject === null) return <Callout tone="warn">{t('notSent')}</Callout>;
  if (mail === null) return <Skeleton width="70%" />;
  return (
    <div className={preview.pane}>
      <RenderedMail subject={mail.subject} html={mail.html} text={mail.text} />
    </div>
  );
}
