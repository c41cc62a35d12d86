/** Target is the field of a column: a field of the contact, attributes.KEY for a custom one; null: left out. */
export type Target = string | null;

/** The fields that a column can be mapped to, in the order in which they are offered. */
export const targets = [
  'email',
  'first_name',
  'last_name',
  'phone',
  'job_title',
  'stage',
  'source',
  'country',
  'time_zone',
  'tag',
  'segment',
  'created_at',
  'company_id',
  'owner_id',
  'consent_basis',
  'consent_source',
  'consent_at',
  'consent_text',
  'consent_confirmed_at',
  'id',
] as const;
const known: ReadonlySet<string> = new Set(targets);

const ignored: ReadonlySet<string> = new Set([
  'id',
  'lead_score',
  'score',
  'probability',
  'confidence',
  'model_version',
  'updated_at',
  'archived_at',
]);

const aliases: Readonly<Record<string, string>> = {
  e_mail: 'email',
  mail: 'email',
  email_address: 'email',
  e_mail_address: 'email',
  firstname: 'first_name',
  given_name: 'first_name',
  lastname: 'last_name',
  surname: 'last_name',
  family_name: 'last_name',
  phone_number: 'phone',
  telephone: 'phone',
  mobile: 'phone',
  title: 'job_title',
  jobtitle: 'job_title',
  position: 'job_title',
  lead_source: 'source',
  timezone: 'time_zone',
  company_uuid: 'company_id',
  lifecycle_stage: 'stage',
  tags: 'tag',
  segments: 'segment',
  created: 'created_at',
};

const attribute = 'attributes.';

/** attributeOf returns the custom field that a column of that name becomes, or null if it can be none. */
export function attributeOf(column: string): Target {
  const key = column.replace(/^attributes\./, '').replaceAll('/', '_').trim();
  return key === '' || key === '.' || key === '..' || key.length > 64 ? null : attribute + key;
}

/** guess returns the field that the name of a column suggests, by the server's rule. */
export function guess(column: string): Target {
  const plain = column.toLowerCase().split(/[\s\-_.]+/).filter(Boolean).join('_');
  if (plain === '' || ignored.has(plain)) return null;
  if (column.startsWith(attribute)) return attributeOf(column);
  const field = aliases[plain] ?? plain;
  return known.has(field) ? field : attributeOf(column);
}

/** guessAll maps each column with a name. Of two columns for one field, the first has it and the other is a field of its own. */
export function guessAll(columns: readonly string[]): ReadonlyMap<string, Target> {
  const taken = new Set<string>();
  const mapping = new Map<string, Target>();
  for (const column of columns) {
    if (column === '') continue;
    const target = [guess(column), attributeOf(column)].find((one) => one === null || !taken.has(one)) ?? null;
    if (target !== null) taken.add(target);
    mapping.set(column, target);
  }
  return mapping;
}

export type Fault = 'noEmail' | { twice: string };

/** faultsOf returns what keeps a mapping from being used. */
export function faultsOf(mapping: ReadonlyMap<string, Target>): Fault[] {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  for (const target of mapping.values()) {
    if (target === null) continue;
    if (seen.has(target)) faults.push({ twice: target });
    seen.add(target);
  }
  if (!seen.has('email') && !seen.has('id')) faults.push('noEmail');
  return faults;
}
