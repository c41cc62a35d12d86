import { useState } from 'react';
import { describe } from '@/lib/describe';
import { messages } from '@/lib/messages';
import type { Result } from '@/lib/operations';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Secret } from '@/ui/copy';
import { Dialog } from '@/ui/dialog';
import { Callout } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Select } from '@/ui/select';
import { exact } from '@/ui/time';
import { generated, SecretField, type SecretChoice } from './secret';
import { nameOf, type Webhook } from './words';
import styles from './webhooks.module.css';

const t = messages({
  title: 'Rotate the signing secret',
  intro: 'Deliveries to {name} get a new secret. During the overlap the old secret signs, too, so your endpoint can change at any time.',
  overlap: 'Overlap',
  hours: { one: '{count} hour', other: '{count} hours' },
  days: { one: '{count} day', other: '{count} days' },
  noOverlap: 'None: the old secret is refused at once',
  noOverlapTitle: 'The old secret stops signing now',
  noOverlapText: 'Your endpoint refuses every delivery until it has the new one. Do this if the old secret has leaked.',
  type: 'Type {word} to confirm',
  word: 'rotate',
  rotate: 'Rotate secret',
  cancel: 'Cancel',
  done: 'Done',
  newTitle: 'Copy the new secret now',
  once: 'It is shown this once.',
  until: 'Until {time} each delivery is also signed with the old secret.',
  ended: 'Deliveries are signed with this secret alone.',
  secret: 'New signing secret',
});

const overlaps = [24, 1, 72, 168, 0] as const;
type Rotated = Result<'post', '/api/v1/webhooks/{id}/rotate-secret'>;

/** RotateDialog replaces a webhook's secret and shows the new one once: it is gone when the dialog closes. */
export function RotateDialog({ hook, onClose }: { hook: Webhook; onClose: () => void }) {
  const api = useApi();
  const [overlap, setOverlap] = useState<string>('24');
  const [secret, setSecret] = useState<SecretChoice>(generated);
  const [typed, setTyped] = useState('');
  const [rotated, setRotated] = useState<Rotated | null>(null);
  const rotate = useSubmit(
    (given: { overlap: number; secret: SecretChoice }, idempotencyKey) =>
      api.post('/api/v1/webhooks/{id}/rotate-secret', {
        path: { id: hook.id },
        body: { overlap_hours: given.overlap, ...(given.secret.own && { secret: given.secret.text }) },
        idempotencyKey,
      }),
    ({ data }) => setRotated(data),
  );
  const isAllowed = overlap !== '0' || typed.trim() === t('word');
  const submit = () => isAllowed && void rotate.submit({ overlap: Number(overlap), secret });
  if (rotated !== null) {
    const until = rotated.previous_secret_expires_at;
    return (
      <Dialog
        open
        keep
        onClose={onClose}
        title={t('newTitle')}
        intro={`${t('once')} ${until ? t('until', { time: exact(new Date(until)) }) : t('ended')}`}
        foot={
          <Button kind="primary" onClick={onClose}>
            {t('done')}
          </Button>
        }
      >
        <Secret label={t('secret')} value={rotated.secret} />
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('title')}
      intro={t('intro', { name: nameOf(hook.url) })}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button
            kind={overlap === '0' ? 'danger' : 'primary'}
            disabled={!isAllowed}
            busy={rotate.busy}
            onClick={submit}
          >
            {t('rotate')}
          </Button>
        </>
      }
    >
      <Form problem={describe(rotate.error)} onSubmit={submit}>
        <Field label={t('overlap')} pointer="/overlap_hours">
          <Select
            label={t('overlap')}
            value={overlap}
            onChange={setOverlap}
            options={overlaps.map((hours) => ({ value: String(hours), label: overlapWord(hours) }))}
          />
        </Field>
        <SecretField value={secret} onChange={setSecret} />
        {overlap === '0' && (
          <>
            <Callout tone="bad" title={t('noOverlapTitle')}>
              <p className={styles.plain}>{t('noOverlapText')}</p>
            </Callout>
            <Field label={t('type', { word: t('word') })}>
              <Input value={typed} autoComplete="off" onChange={(event) => setTyped(event.target.value)} />
            </Field>
          </>
        )}
      </Form>
    </Dialog>
  );
}

function overlapWord(hours: number): string {
  if (hours === 0) return t('noOverlap');
  return hours <= 24 ? t('hours', { count: hours }) : t('days', { count: hours / 24 });
}
