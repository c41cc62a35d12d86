import { messages } from '@/lib/messages';
import { Field, Input } from '@/ui/field';
import { EventPicker } from './picker';
import { parseRateLimit, type WebhookFields } from './fields';
import styles from './webhooks.module.css';

const t = messages({
  url: 'Endpoint address',
  urlHelp: 'A public https address. It gets a POST for each event and answers 2xx within 15 seconds.',
  events: 'Events',
  description: 'Description',
  descriptionHelp: 'What it is for, for your colleagues.',
  rate: 'Rate limit',
  rateHelp: 'Deliveries per second. More wait their turn; none is lost.',
  rateError: 'A whole number of deliveries per second.',
  perSecond: 'per second',
});

/** WebhookFieldset has the fields that a new webhook and its settings share. */
export function WebhookFieldset({ value, onChange, eventsError, autoFocus = false }: {
  value: WebhookFields;
  onChange: (next: WebhookFields) => void;
  /** The problem of the event types, which have no single field. */
  eventsError?: string | undefined;
  autoFocus?: boolean;
}) {
  return (
    <>
      <Field label={t('url')} pointer="/url" help={t('urlHelp')}>
        <Input
          type="url"
          mono
          autoFocus={autoFocus}
          autoComplete="off"
          placeholder="https://example.com/webhooks"
          value={value.url}
          onChange={(event) => onChange({ ...value, url: event.target.value })}
        />
      </Field>
      <div className={styles.block}>
        <h3 className={styles.label}>{t('events')}</h3>
        <EventPicker value={value.events} onChange={(events) => onChange({ ...value, events })} />
        {eventsError !== undefined && (
          <p className={styles.error} role="alert">
            {eventsError}
          </p>
        )}
      </div>
      <Field label={t('description')} pointer="/description" help={t('descriptionHelp')} optional>
        <Input
          maxLength={500}
          value={value.description}
          onChange={(event) => onChange({ ...value, description: event.target.value })}
        />
      </Field>
      <Field
        label={t('rate')}
        pointer="/rate_limit"
        help={t('rateHelp')}
        optional
        error={parseRateLimit(value.rateLimit) === undefined ? t('rateError') : undefined}
      >
        <Input
          inputMode="numeric"
          className="num"
          after={<span className={styles.unit}>{t('perSecond')}</span>}
          value={value.rateLimit}
          onChange={(event) => onChange({ ...value, rateLimit: event.target.value })}
        />
      </Field>
    </>
  );
}
