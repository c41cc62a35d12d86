import { useState } from 'react';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { Button } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { Switch } from '@/ui/choice';
import { Field, Input, Textarea } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card } from '@/ui/page';
import { Select } from '@/ui/select';
import mail from '../mail/mail.module.css';
import { wholeOf } from '../mailboxes/server';
import { t } from './messages';
import { useSave } from './save';
import { countriesOf, type Settings } from './words';

interface CardProps {
  answer: Answer<Settings>;
  isAdmin: boolean;
}

const purposes = [
  { value: 'personal', label: t('personal') },
  { value: 'marketing', label: t('marketing') },
] as const;

/** RulesCard has the postal address, the caps, and what stops a sequence. */
export function RulesCard({ answer, isAdmin }: CardProps) {
  const one = answer.data;
  const save = useSave(answer);
  const [draft, setDraft] = useState({
    postal: one.postal_address ?? '',
    cap: one.daily_cap === null ? '' : String(one.daily_cap),
    domainCap: one.domain_daily_cap === null ? '' : String(one.domain_daily_cap),
    countries: one.blocked_countries.join(', '),
    purpose: one.default_purpose,
    stop: one.stop_on,
  });
  const set = (change: Partial<typeof draft>) => setDraft({ ...draft, ...change });
  const cap = wholeOf(draft.cap);
  const domainCap = wholeOf(draft.domainCap);
  const submit = () => {
    if (cap === undefined || domainCap === undefined) return;
    void save.submit({
      postal_address: draft.postal.trim() === '' ? null : draft.postal.trim(),
      daily_cap: cap,
      domain_daily_cap: domainCap,
      blocked_countries: countriesOf(draft.countries),
      default_purpose: draft.purpose,
      stop_on: draft.stop,
    });
  };
  return (
    <Card
      title={t('rules')}
      {...(isAdmin && {
        foot: (
          <Button kind="primary" size="small" type="submit" form="sending-rules" busy={save.busy}>
            {t('saveRules')}
          </Button>
        ),
      })}
    >
      <Form id="sending-rules" label={t('rules')} problem={describe(save.error)} onSubmit={submit}>
        <fieldset className={mail.stack} disabled={!isAdmin}>
          <legend className="visually-hidden">{t('rules')}</legend>
          <Field label={t('postal')} pointer="/postal_address" help={t('postalHelp')}>
            <Textarea rows={2} value={draft.postal} onChange={(e) => set({ postal: e.target.value })} />
          </Field>
          <div className={mail.pair}>
            <Field
              label={t('dailyCap')}
              pointer="/daily_cap"
              help={t('dailyCapHelp')}
              optional
              error={cap === undefined ? t('whole') : undefined}
            >
              <Input inputMode="numeric" className="num" value={draft.cap} onChange={(e) => set({ cap: e.target.value })} />
            </Field>
            <Field
              label={t('domainCap')}
              pointer="/domain_daily_cap"
              help={t('domainCapHelp')}
              optional
              error={domainCap === undefined ? t('whole') : undefined}
            >
              <Input
                inputMode="numeric"
                className="num"
                value={draft.domainCap}
                onChange={(e) => set({ domainCap: e.target.value })}
              />
            </Field>
            <Field label={t('countries')} pointer="/blocked_countries" help={t('countriesHelp')} optional>
              <Input value={draft.countries} onChange={(e) => set({ countries: e.target.value })} />
            </Field>
            <Field label={t('purpose')} pointer="/default_purpose">
              <Select
                label={t('purpose')}
                options={purposes}
                value={draft.purpose}
                disabled={!isAdmin}
                onChange={(purpose) => set({ purpose })}
              />
            </Field>
          </div>
          <p className={mail.label}>{t('stop')}</p>
          <Checkbox
            label={t('stopReply')}
            checked={draft.stop.reply}
            disabled={!isAdmin}
            onChange={(reply) => set({ stop: { ...draft.stop, reply } })}
          />
          <Checkbox
            label={t('stopCompany')}
            checked={draft.stop.company_reply}
            disabled={!isAdmin}
            onChange={(on) => set({ stop: { ...draft.stop, company_reply: on } })}
          />
          <Checkbox
            label={t('stopDeal')}
            checked={draft.stop.deal_won}
            disabled={!isAdmin}
            onChange={(on) => set({ stop: { ...draft.stop, deal_won: on } })}
          />
        </fieldset>
      </Form>
    </Card>
  );
}

/** TrackingCard has what new mailboxes track, and the switch that turns tracking off for all mail. */
export function TrackingCard({ answer, isAdmin }: CardProps) {
  const { tracking } = answer.data;
  const save = useSave(answer);
  const disabled = !isAdmin || save.busy;
  return (
    <Card title={t('tracking')}>
      <div className={mail.stack}>
        {save.error !== null && <p role="alert">{describe(save.error)?.detail}</p>}
        <Switch
          label={t('trackOff')}
          help={t('trackOffHelp')}
          checked={tracking.off}
          disabled={disabled}
          onChange={(off) => void save.submit({ tracking: { off } })}
        />
        <Switch
          label={t('trackOpens')}
          checked={tracking.opens}
          disabled={disabled || tracking.off}
          onChange={(opens) => void save.submit({ tracking: { opens } })}
        />
        <Switch
          label={t('trackClicks')}
          checked={tracking.clicks}
          disabled={disabled || tracking.off}
          onChange={(clicks) => void save.submit({ tracking: { clicks } })}
        />
      </div>
    </Card>
  );
}
