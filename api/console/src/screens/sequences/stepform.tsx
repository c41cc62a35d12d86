import { useRead } from '@/lib/read';
import { Combobox } from '@/ui/combobox';
import { Field, Input } from '@/ui/field';
import { Select, type Option } from '@/ui/select';
import mail from '../mail/mail.module.css';
import { useMembers, useStages, useTags } from '../record/directory';
import { ConditionForm } from './conditionform';
import { EmailForm } from './emailform';
import { t } from './messages';
import { unitOf, units, type Delay, type Step, type StepProblem } from './steps';

const options = units.map((value) => ({ value, label: t(value) }));

export interface PartProps {
  step: Step;
  steps: readonly Step[];
  mailbox: string | null;
  problems: readonly StepProblem[];
  /** at returns what is wrong at a pointer within the step. */
  at: (pointer: string) => string | undefined;
  onChange: (next: Step) => void;
  disabled: boolean;
}

/** StepForm edits one step in place. Without onChange it only shows it. */
export function StepForm({ step, steps, mailbox, problems, onChange }: {
  step: Step;
  steps: readonly Step[];
  mailbox: string | null;
  problems: readonly StepProblem[];
  onChange?: (next: Step) => void;
}) {
  const part: PartProps = {
    step,
    steps,
    mailbox,
    problems,
    at: (pointer) => problems.find((one) => one.pointer === pointer)?.detail,
    onChange: onChange ?? (() => {}),
    disabled: onChange === undefined,
  };
  return (
    <fieldset className={mail.stack} disabled={part.disabled}>
      <legend className="visually-hidden">{t(step.kind)}</legend>
      <DelayFields
        label={t('when')}
        help={t('whenHelp')}
        value={step.delay}
        error={part.at('/delay/value') ?? part.at('/delay')}
        disabled={part.disabled}
        onChange={(delay) => part.onChange({ ...step, delay })}
      />
      {step.kind === 'email' && <EmailForm {...part} />}
      {step.kind === 'task' && <TaskForm {...part} />}
      {step.kind === 'condition' && <ConditionForm {...part} />}
      {step.kind === 'update' && <UpdateForm {...part} />}
      {step.kind === 'webhook' && <WebhookForm {...part} />}
    </fieldset>
  );
}

/** DelayFields is a number with its unit. */
export function DelayFields({ label, help, value, error, disabled, onChange }: {
  label: string;
  help?: string;
  value: Delay;
  error: string | undefined;
  disabled: boolean;
  onChange: (next: Delay) => void;
}) {
  return (
    <div className={mail.pair}>
      <Field label={label} help={help} error={error}>
        <Input
          type="number"
          min={0}
          className="num"
          value={value.value}
          onChange={(event) => onChange({ ...value, value: Math.max(0, Math.trunc(Number(event.target.value))) })}
        />
      </Field>
      <Field label={t('unit')}>
        <Select
          label={t('unit')}
          options={options}
          value={unitOf(value)}
          disabled={disabled}
          onChange={(unit) => onChange({ ...value, unit })}
        />
      </Field>
    </div>
  );
}

function TaskForm({ step, at, onChange, disabled }: PartProps) {
  const members = useMembers();
  const { task } = step;
  if (task === undefined) return null;
  const types = (['todo', 'call', 'email', 'message'] as const).map((value) => ({ value, label: t(value) }));
  return (
    <>
      <Field label={t('taskTitle')} error={at('/task/title')}>
        <Input
          maxLength={200}
          value={task.title}
          onChange={(event) => onChange({ ...step, task: { ...task, title: event.target.value } })}
        />
      </Field>
      <div className={mail.pair}>
        <Field label={t('taskType')} error={at('/task/type')}>
          <Select
            label={t('taskType')}
            options={types}
            value={task.type}
            disabled={disabled}
            onChange={(type) => onChange({ ...step, task: { ...task, type } })}
          />
        </Field>
        <Field label={t('assignee')} error={at('/task/assignee')}>
          <Select
            label={t('assignee')}
            options={[{ value: '', label: t('contactOwner') }, ...members.options]}
            value={task.assignee ?? ''}
            disabled={disabled}
            onChange={(id) => onChange({ ...step, task: { ...task, assignee: id === '' ? null : id } })}
          />
        </Field>
      </div>
    </>
  );
}

function UpdateForm({ step, at, onChange, disabled }: PartProps) {
  const tags = useTags();
  const stages = useStages();
  const { update } = step;
  if (update === undefined) return null;
  const options = (names: readonly string[]): Option[] => names.map((name) => ({ value: name, label: name }));
  const stage = update.set['stage'];
  const others = Object.keys(update.set).filter((name) => name !== 'stage');
  const setStage = (value: string) => {
    const { stage: _, ...rest } = update.set;
    onChange({ ...step, update: { ...update, set: value === '' ? rest : { ...rest, stage: value } } });
  };
  return (
    <>
      <Field label={t('addTags')} error={at('/update') ?? at('/update/add_tags/0')}>
        <Combobox
          label={t('addTags')}
          multiple
          options={tags}
          value={options(update.add_tags)}
          onChange={(next) => onChange({ ...step, update: { ...update, add_tags: next.map((one) => one.value) } })}
          onCreate={(name) =>
            !disabled && onChange({ ...step, update: { ...update, add_tags: [...update.add_tags, name] } })
          }
        />
      </Field>
      <Field label={t('removeTags')} error={at('/update/remove_tags/0')}>
        <Combobox
          label={t('removeTags')}
          multiple
          options={tags}
          value={options(update.remove_tags)}
          onChange={(next) => onChange({ ...step, update: { ...update, remove_tags: next.map((one) => one.value) } })}
        />
      </Field>
      <Field
        label={t('setStage')}
        error={at('/update/set/stage') ?? at('/update/set')}
        {...(others.length > 0 && { help: t('setOthers', { names: others.join(', ') }) })}
      >
        <Select
          label={t('setStage')}
          options={[{ value: '', label: t('keepStage') }, ...stages]}
          value={typeof stage === 'string' ? stage : ''}
          disabled={disabled}
          onChange={setStage}
        />
      </Field>
    </>
  );
}

function WebhookForm({ step, at, onChange, disabled }: PartProps) {
  const hooks = useRead('/api/v1/webhooks', { query: { limit: 200 } });
  const all = hooks.data?.data ?? [];
  return (
    <Field
      label={t('endpoint')}
      error={at('/webhook/endpoint_id')}
      {...(hooks.data !== undefined && all.length === 0 && { help: t('noEndpoint') })}
    >
      <Select
        label={t('endpoint')}
        placeholder={t('chooseEndpoint')}
        options={all.map((hook) => ({ value: hook.id, label: hook.description || hook.url }))}
        value={step.webhook?.endpoint_id || null}
        disabled={disabled}
        onChange={(endpoint) => onChange({ ...step, webhook: { endpoint_id: endpoint } })}
      />
    </Field>
  );
}
