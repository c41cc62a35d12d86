import { useParams } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useLeave } from '@/app/leave';
import { describe } from '@/lib/describe';
import { saveEdit } from '@/lib/edit';
import { randomId } from '@/lib/random';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { Combobox } from '@/ui/combobox';
import { Field, Input, Textarea } from '@/ui/field';
import { Form } from '@/ui/form';
import { toast } from '@/ui/toast';
import { useMailboxes } from '../mail/choices';
import mail from '../mail/mail.module.css';
import { wholeOf } from '../mailboxes/server';
import { Builder } from '../segments/builder';
import { useFields } from '../segments/fields';
import { readFilter } from '../segments/filter';
import { useFilter } from '../segments/usefilter';
import { sentence } from '../segments/words';
import { SequenceFrame, type Within } from './frame';
import { t } from './messages';
import type { Sequence } from './steps';
import styles from './sequences.module.css';

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** SequenceSettings has when a sequence sends, who sends, and what ends it. */
export function SequenceSettings() {
  const { id } = useParams({ from: '/app/sequences/$id/settings' });
  return <SequenceFrame id={id}>{(within) => <Settings key={id} {...within} />}</SequenceFrame>;
}

function draftOf(one: Sequence) {
  return {
    name: one.name,
    mailboxes: one.mailbox_ids,
    days: one.schedule.days,
    from: one.schedule.from,
    to: one.schedule.to,
    zone: one.schedule.time_zone,
    holidays: one.schedule.holidays.join('\n'),
    perDay: one.max_new_per_day === null ? '' : String(one.max_new_per_day),
    late: String(one.late_after_hours),
    hasGoal: one.goal !== null,
    stop: one.stop_on,
    exclusive: one.exclusive,
    reenroll: one.allow_reenroll,
  };
}

function Settings({ answer, mayEdit, sequence }: Within) {
  const api = useApi();
  const scope = useScope();
  const base = useRef(answer);
  const mailboxes = useMailboxes();
  const [draft, setDraft] = useState(() => draftOf(answer.data));
  const set = (change: Partial<typeof draft>) => setDraft({ ...draft, ...change });
  const [asked, setAsked] = useState(false);
  const fields = useFields({ segments: true });
  const stored = answer.data.goal;
  const goal = useFilter(stored, fields, '/goal');
  const isReadable = stored === null || readFilter(stored) !== null;
  const path = { id: sequence.id };
  const disabled = !mayEdit || sequence.status === 'archived';
  const written = JSON.stringify(draft);
  const [kept, setKept] = useState(written);
  const leave = useLeave(!disabled && (written !== kept || (draft.hasGoal && goal.isChanged)));
  const perDay = wholeOf(draft.perDay);
  const late = wholeOf(draft.late);
  const save = useSubmit(
    (_: typeof draft, idempotencyKey) => {
      const body = {
        name: draft.name.trim(),
        mailbox_ids: draft.mailboxes,
        schedule: {
          days: draft.days,
          from: draft.from,
          to: draft.to,
          time_zone: draft.zone.trim(),
          holidays: draft.holidays.split(/\s+/).filter((day) => day !== ''),
        },
        max_new_per_day: perDay ?? null,
        late_after_hours: late ?? null,
        ...(!draft.hasGoal ? { goal: null } : isReadable && goal.filter !== undefined && { goal: goal.filter }),
        stop_on: draft.stop,
        exclusive: draft.exclusive,
        allow_reenroll: draft.reenroll,
      };
      return saveEdit(base.current, body, {
        patch: (_changes, etag) =>
          api.patch('/api/v1/sequences/{id}', {
            path,
            body,
            ifMatch: etag,
            idempotencyKey: etag === base.current.etag ? idempotencyKey : randomId(),
          }),
        get: () => api.get('/api/v1/sequences/{id}', { path }),
      });
    },
    (saved, sent) => {
      base.current = saved;
      setKept(JSON.stringify(sent));
      goal.keep();
      invalidate(scope, '/api/v1/sequences');
      toast({ title: t('settingsSaved') });
    },
  );
  const submit = () => {
    setAsked(true);
    const isComplete = !draft.hasGoal || !isReadable || goal.filter !== undefined;
    if (perDay !== undefined && late !== undefined && isComplete) void save.submit(draft);
  };
  const options = mailboxes.options;
  const chosen = draft.mailboxes.map((value) => ({ value, label: mailboxes.names.get(value) ?? `…${value.slice(-8)}` }));
  return (
    <div className={mail.scroll}>
      <div className={mail.cards}>
        <Form label={t('settings')} problem={describe(save.error)} onSubmit={submit}>
          <fieldset className={mail.stack} disabled={disabled}>
            <legend className="visually-hidden">{t('settings')}</legend>
            <Field label={t('name')} pointer="/name">
              <Input maxLength={200} value={draft.name} onChange={(e) => set({ name: e.target.value })} />
            </Field>
            <h2 className={styles.group}>{t('sendersCard')}</h2>
            <Field label={t('mailboxes')} pointer="/mailbox_ids" help={t('mailboxesHelp')}>
              <Combobox
                label={t('mailboxes')}
                multiple
                options={options}
                value={chosen}
                onChange={(next) => set({ mailboxes: next.map((one) => one.value) })}
              />
            </Field>
            <div className={mail.pair}>
              <Field
                label={t('perDay')}
                pointer="/max_new_per_day"
                help={t('perDayHelp')}
                optional
                error={perDay === undefined ? t('whole') : undefined}
              >
                <Input inputMode="numeric" value={draft.perDay} onChange={(e) => set({ perDay: e.target.value })} />
              </Field>
              <Field
                label={t('lateAfter')}
                pointer="/late_after_hours"
                help={t('lateHelp')}
                error={late === undefined ? t('whole') : undefined}
              >
                <Input inputMode="numeric" value={draft.late} onChange={(e) => set({ late: e.target.value })} />
              </Field>
            </div>
            <h2 className={styles.group}>{t('scheduleCard')}</h2>
            <div role="group" aria-label={t('daysOf')} className={styles.days}>
              {days.map((day) => (
                <Checkbox
                  key={day}
                  label={t(day)}
                  checked={draft.days.includes(day)}
                  disabled={disabled}
                  onChange={(on) => set({ days: days.filter((one) => (one === day ? on : draft.days.includes(one))) })}
                />
              ))}
            </div>
            <div className={mail.triple}>
              <Field label={t('zone')} pointer="/schedule/time_zone" help={t('zoneHelp')}>
                <Input value={draft.zone} onChange={(e) => set({ zone: e.target.value })} />
              </Field>
              <Field label={t('from')} pointer="/schedule/from">
                <Input className="num" value={draft.from} onChange={(e) => set({ from: e.target.value })} />
              </Field>
              <Field label={t('to')} pointer="/schedule/to">
                <Input className="num" value={draft.to} onChange={(e) => set({ to: e.target.value })} />
              </Field>
            </div>
            <Field label={t('holidays')} pointer="/schedule/holidays" help={t('holidaysHelp')} optional>
              <Textarea rows={3} value={draft.holidays} onChange={(e) => set({ holidays: e.target.value })} />
            </Field>
            <h2 className={styles.group}>{t('goalCard')}</h2>
            <Checkbox
              label={t('hasGoal')}
              help={t('goalHelp')}
              checked={draft.hasGoal}
              disabled={disabled}
              onChange={(hasGoal) => set({ hasGoal })}
            />
            {draft.hasGoal &&
              (!isReadable ? (
                <p className={mail.help}>{t('unreadable')}</p>
              ) : disabled ? (
                <p>{sentence(goal.group, fields.names)}</p>
              ) : (
                <Builder
                  group={goal.group}
                  fields={fields}
                  onChange={goal.change}
                  errorOf={(id) => goal.errorOf(id, save.error, asked)}
                />
              ))}
            <h2 className={styles.group}>{t('stopCard')}</h2>
            <Checkbox
              label={t('stopReply')}
              checked={draft.stop.reply}
              disabled={disabled}
              onChange={(reply) => set({ stop: { ...draft.stop, reply } })}
            />
            <Checkbox
              label={t('stopCompany')}
              checked={draft.stop.company_reply}
              disabled={disabled}
              onChange={(on) => set({ stop: { ...draft.stop, company_reply: on } })}
            />
            <Checkbox
              label={t('stopDeal')}
              checked={draft.stop.deal_won}
              disabled={disabled}
              onChange={(on) => set({ stop: { ...draft.stop, deal_won: on } })}
            />
            <Checkbox
              label={t('exclusive')}
              checked={draft.exclusive}
              disabled={disabled}
              onChange={(exclusive) => set({ exclusive })}
            />
            <Checkbox
              label={t('reenroll')}
              checked={draft.reenroll}
              disabled={disabled}
              onChange={(reenroll) => set({ reenroll })}
            />
          </fieldset>
          {!disabled && (
            <div className={mail.buttons}>
              <Button kind="primary" type="submit" busy={save.busy}>
                {t('saveSettings')}
              </Button>
            </div>
          )}
        </Form>
      </div>
      {leave}
    </div>
  );
}
