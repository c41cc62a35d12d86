import { useState } from 'react';
import { messages } from '@/lib/messages';
import { Tabs } from '@/ui/tabs';
import { MailFrame } from './mailframe';
import styles from './preview.module.css';

const t = messages({
  subject: 'Subject',
  view: 'View',
  html: 'Formatted',
  text: 'Plain text',
  frame: 'The mail',
});

/** RenderedMail shows the parts of a mail whose merge fields are filled in. */
export function RenderedMail({ subject, html, text }: { subject: string; html: string | null; text: string | null }) {
  const [view, setView] = useState<'html' | 'text'>('html');
  return (
    <>
      <p className={styles.subject}>
        <span className="meta">{t('subject')}</span>
        <strong>{subject}</strong>
      </p>
      <Tabs
        label={t('view')}
        value={view}
        onChange={setView}
        tabs={[
          { value: 'html', label: t('html'), content: <MailFrame html={html ?? ''} title={t('frame')} /> },
          { value: 'text', label: t('text'), content: <pre className={styles.text}>{text}</pre> },
        ]}
      />
    </>
  );
}
