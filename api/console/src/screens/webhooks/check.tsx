import { useEffect, useState } from 'react';
import { messages } from '@/lib/messages';
import { Field, Input } from '@/ui/field';
import { Card } from '@/ui/page';
import { Status } from '@/ui/status';
import type { Attempt } from './filter';
import { checkSignature, type Verdict } from './signature';
import styles from './delivery.module.css';

const t = messages({
  title: 'Check the signature',
  secret: 'Signing secret',
  help: 'Checked in this browser. The secret is not sent or stored, and is gone when you leave the page.',
  body: 'over the body',
  standard: 'over id, time and body',
  valid: 'Valid',
  invalid: 'Not valid with this secret',
  absent: 'Header absent',
  insecure: 'This browser checks signatures only on https pages and on localhost.',
});

/** SignatureCheck checks both signatures of an attempt against a secret that the person pastes. */
export function SignatureCheck({ attempt, body }: { attempt: Attempt; body: string }) {
  const [secret, setSecret] = useState('');
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  useEffect(() => {
    setVerdict(null);
    if (secret === '' || !window.isSecureContext) return;
    let isCurrent = true;
    void checkSignature(secret, attempt.request_headers, body).then((made) => isCurrent && setVerdict(made));
    return () => {
      isCurrent = false;
    };
  }, [secret, attempt, body]);
  return (
    <Card title={t('title')}>
      <div className={styles.check}>
        <Field label={t('secret')} help={window.isSecureContext ? t('help') : t('insecure')}>
          <Input
            type="password"
            mono
            autoComplete="off"
            spellCheck={false}
            placeholder="whsec_…"
            disabled={!window.isSecureContext}
            value={secret}
            onChange={(event) => setSecret(event.target.value.trim())}
          />
        </Field>
        <ul className={styles.verdicts} aria-live="polite">
          <Line name="X-Service-Signature" what={t('body')} valid={verdict?.service} />
          <Line name="webhook-signature" what={t('standard')} valid={verdict?.standard} />
        </ul>
      </div>
    </Card>
  );
}

function Line({ name, what, valid }: { name: string; what: string; valid: boolean | null | undefined }) {
  return (
    <li>
      <span>
        <code>{name}</code> <span className="meta">{what}</span>
      </span>
      {valid === null && <Status tone="off">{t('absent')}</Status>}
      {valid === true && <Status tone="good">{t('valid')}</Status>}
      {valid === false && <Status tone="bad">{t('invalid')}</Status>}
    </li>
  );
}
