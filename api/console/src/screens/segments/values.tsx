import { useRead } from '@/lib/read';
import { Combobox } from '@/ui/combobox';
import { Input } from '@/ui/field';
import { Select, type Option } from '@/ui/select';
import { CompanyChoice } from '../record/companychoice';
import { useMembers } from '../record/directory';
import { label } from '../record/label';
import { type Condition, type FilterField, takesList } from './filter';
import { t } from './messages';
import { fromLocal, toLocal } from './times';

/** Values is the control for the value of a condition: it follows from the field's type and the operator. */
export function Values({ condition, field, name, onChange }: {
  condition: Condition;
  field: FilterField;
  /** Names the control: "Value of Stage". */
  name: string;
  onChange: (values: readonly string[]) => void;
}) {
  const members = useMembers();
  const { op, values } = condition;
  if (op === 'exists') return null;
  const isText = op === 'starts_with' || op === 'contains';
  const options = isText ? undefined : optionsOf(field, members.options);
  if (field.field === 'company_id' && !takesList(op)) return <Company id={values[0]} onChange={onChange} />;
  if (takesList(op)) return <Several name={name} options={options} isFree={isFree(field)} values={values} onChange={onChange} />;
  if (field.type === 'boolean') {
    const words = [
      { value: 'true', label: t('yes') },
      { value: 'false', label: t('no') },
    ];
    return <Select label={name} options={words} value={values[0] ?? null} onChange={(value) => onChange([value])} />;
  }
  if (options !== undefined) {
    const known = options.map((option) => option.value);
    const more = values.filter((value) => !known.includes(value)).map(unknownOption);
    if (field.field !== 'tag') {
      return (
        <Select
          label={name}
          options={[...more, ...options]}
          value={values[0] ?? null}
          onChange={(value) => onChange([value])}
        />
      );
    }
    return (
      <Combobox
        label={name}
        options={options}
        value={values.map((value) => ({ value, label: value }))}
        onChange={(chosen) => onChange(chosen.slice(-1).map((option) => option.value))}
        onCreate={(text) => onChange([text])}
      />
    );
  }
  if (field.type === 'time') {
    return (
      <Input
        type="datetime-local"
        aria-label={name}
        value={toLocal(values[0] ?? '')}
        onChange={(event) => onChange([fromLocal(event.target.value)])}
      />
    );
  }
  return (
    <Input
      type={field.type === 'date' ? 'date' : 'text'}
      inputMode={field.type === 'number' ? 'decimal' : undefined}
      autoComplete="off"
      aria-label={name}
      value={values[0] ?? ''}
      onChange={(event) => onChange([event.target.value])}
    />
  );
}

function Several({ name, options = [], isFree, values, onChange }: {
  name: string;
  options: readonly Option[] | undefined;
  /** Values beside the options may be typed. */
  isFree: boolean;
  values: readonly string[];
  onChange: (values: readonly string[]) => void;
}) {
  const labels = new Map(options.map((option) => [option.value, option.label]));
  return (
    <Combobox
      label={name}
      multiple
      options={options}
      placeholder={isFree ? t('typeValues') : ''}
      value={values.map((value) => ({ value, label: labels.get(value) ?? value }))}
      onChange={(chosen) => onChange(chosen.map((option) => option.value))}
      {...(isFree && { onCreate: (text: string) => onChange([...values, text]) })}
    />
  );
}

/** A stored company has an id; its name is read. */
function Company({ id, onChange }: { id: string | undefined; onChange: (values: readonly string[]) => void }) {
  if (id === undefined || id === '') return <CompanyChoice value={null} onChange={(to) => onChange(to ? [to.value] : [])} />;
  return <NamedCompany key={id} id={id} onChange={onChange} />;
}

function NamedCompany({ id, onChange }: { id: string; onChange: (values: readonly string[]) => void }) {
  const company = useRead('/api/v1/crm/companies/{id}', { path: { id } });
  const name = company.data?.name ?? (company.error === null ? '…' : t('former'));
  return <CompanyChoice value={{ value: id, label: name }} onChange={(to) => onChange(to ? [to.value] : [])} />;
}

/** The options of a field whose values are chosen; undefined for one whose values are typed. */
function optionsOf({ field, values }: FilterField, members: readonly Option[]): readonly Option[] | undefined {
  if (field === 'owner_id') return members;
  if (values === undefined) return undefined;
  return values.map((value) => ({ value, label: field === 'stage' ? label(value) : value }));
}

function isFree({ field, values }: FilterField): boolean {
  return field === 'tag' || (values === undefined && field !== 'owner_id');
}

function unknownOption(value: string): Option {
  return { value, label: value };
}
