import { Button, IconButton } from '@/ui/button';
import { cx } from '@/ui/cx';
import { Icon } from '@/ui/icon';
import { Menu } from '@/ui/menu';
import { Select } from '@/ui/select';
import { Badge } from '@/ui/status';
import type { Fields } from './fields';
import {
  change,
  type Condition,
  type Group,
  limits,
  newCondition,
  newGroup,
  type Part,
  withField,
  withOperator,
} from './filter';
import { t } from './messages';
import { Values } from './values';
import { operatorOf, operatorsOf } from './words';
import styles from './segments.module.css';

export interface BuilderProps {
  group: Group;
  fields: Fields;
  onChange: (group: Group) => void;
  /** What is wrong with a part, in words. */
  errorOf: (id: string) => string | undefined;
}

/** Builder edits a filter: conditions in groups, each of which matches all, any or none of its parts. */
export function Builder({ group, fields, onChange, errorOf }: BuilderProps) {
  const edit = (id: string, by: (part: Part) => Part | null) => onChange(change(group, id, by));
  return <GroupPart group={group} fields={fields} edit={edit} errorOf={errorOf} depth={1} />;
}

interface PartProps {
  fields: Fields;
  edit: (id: string, by: (part: Part) => Part | null) => void;
  errorOf: (id: string) => string | undefined;
}

const modes = {
  all: { mode: 'all', negated: false, label: t('allOf') },
  any: { mode: 'any', negated: false, label: t('anyOf') },
  none: { mode: 'any', negated: true, label: t('noneOf') },
  notAll: { mode: 'all', negated: true, label: t('notAllOf') },
} as const;
type Mode = keyof typeof modes;
const modeNames: readonly Mode[] = ['all', 'any', 'none', 'notAll'];

function modeOf({ mode, negated }: Group): Mode {
  return mode === 'all' ? (negated ? 'notAll' : 'all') : negated ? 'none' : 'any';
}

function GroupPart({ group, depth, ...rest }: PartProps & { group: Group; depth: number }) {
  const { fields, edit, errorOf } = rest;
  const error = errorOf(group.id);
  const setMode = (to: Mode) => {
    const { mode, negated } = modes[to];
    edit(group.id, (part) => (part.kind === 'group' ? { ...part, mode, negated } : part));
  };
  const add = (part: Part) =>
    edit(group.id, (old) => (old.kind === 'group' ? { ...old, parts: [...old.parts, part] } : old));
  const first = fields.find('stage') ?? fields.all[0];
  return (
    <div className={cx(styles.group, depth > 1 && styles.nested)} role="group" aria-label={t('group')}>
      <div className={styles.groupHead}>
        {depth === 1 && <span>{t('match')}</span>}
        <span className={styles.mode}>
          <Select<Mode>
            label={t('groupMode')}
            size="small"
            options={modeNames.map((value) => ({ value, label: modes[value].label }))}
            value={modeOf(group)}
            onChange={setMode}
          />
        </span>
        <span className={styles.grow} />
        {depth > 1 && <IconButton icon="close" label={t('removeGroup')} onClick={() => edit(group.id, () => null)} />}
      </div>
      {group.parts.length > 0 && (
        <ul className={styles.parts}>
          {group.parts.map((part) => (
            <li key={part.id}>
              {part.kind === 'group' ? (
                <GroupPart group={part} depth={depth + 1} {...rest} />
              ) : (
                <ConditionPart condition={part} {...rest} />
              )}
            </li>
          ))}
        </ul>
      )}
      {error !== undefined && <PartError text={error} />}
      <div className={styles.groupFoot}>
        <Button
          kind="quiet"
          size="small"
          icon="plus"
          disabled={first === undefined}
          onClick={() => first && add(newCondition(first))}
        >
          {t('addCondition')}
        </Button>
        {depth < limits.depth - 1 && first !== undefined && (
          <Button kind="quiet" size="small" onClick={() => add(newGroup([newCondition(first)], 'any'))}>
            {t('addGroup')}
          </Button>
        )}
      </div>
    </div>
  );
}

function ConditionPart({ condition, fields, edit, errorOf }: PartProps & { condition: Condition }) {
  const field = fields.find(condition.field);
  const name = fields.names.field(condition.field);
  const error = errorOf(condition.id);
  const set = (by: (condition: Condition) => Condition) =>
    edit(condition.id, (part) => (part.kind === 'condition' ? by(part) : part));
  const setField = (to: string) => {
    const next = fields.find(to);
    if (next !== undefined) set((old) => withField(old, field, next));
  };
  const setOperator = (to: string) =>
    set((old) => (to === 'missing' ? { ...withOperator(old, 'exists'), values: ['false'] } : withOperator(old, to)));
  const known = fields.all.map((one) => ({ value: one.field, label: fields.names.field(one.field) }));
  return (
    <>
      <div className={styles.condition} role="group" aria-label={name}>
        <span className={styles.fieldChoice}>
          {condition.negated && <Badge tone="warn">{t('not')}</Badge>}
          <Select
            label={t('field')}
            options={field === undefined ? [{ value: condition.field, label: name }, ...known] : known}
            value={condition.field}
            onChange={setField}
          />
        </span>
        {field !== undefined && (
          <>
            <Select
              label={t('operator')}
              options={operatorsOf(field)}
              value={operatorOf(condition)}
              onChange={setOperator}
            />
            <div className={styles.value}>
              <Values
                condition={condition}
                field={field}
                name={t('valueOf', { field: name })}
                onChange={(values) => set((old) => ({ ...old, values }))}
              />
            </div>
          </>
        )}
        <span className={styles.conditionActions}>
          <Menu
            align="end"
            trigger={<IconButton icon="more" label={t('conditionActions', { field: name })} />}
            items={[
              {
                label: t('negate'),
                checked: condition.negated,
                onSelect: () => set((old) => ({ ...old, negated: !old.negated })),
              },
            ]}
          />
          <IconButton
            icon="close"
            label={t('removeCondition', { field: name })}
            onClick={() => edit(condition.id, () => null)}
          />
        </span>
      </div>
      {error !== undefined && <PartError text={error} />}
    </>
  );
}

function PartError({ text }: { text: string }) {
  return (
    <p className={styles.error}>
      <Icon name="error" />
      {text}
    </p>
  );
}
