import type { Contact } from '../record/types';

/** The fields of which a contact has one value, which a person can choose. The address stays the survivor's. */
export const plainFields = [
  'first_name',
  'last_name',
  'phone',
  'job_title',
  'company_id',
  'owner_id',
  'stage',
  'source',
  'country',
  'time_zone',
] as const;
export type PlainField = (typeof plainFields)[number];

const attribute = 'attributes.';

/** The value of each field, by the id of the contact that has it: what the merged contact gets. */
export type Choice = Readonly<Record<string, string>>;

/** valueOf returns the value of a field, custom ones included, as text; null for none. */
export function valueOf(contact: Contact, field: string): string | null {
  const plain = plainFields.find((one) => one === field);
  const value = plain === undefined ? contact.attributes[field.slice(attribute.length)] : contact[plain];
  if (typeof value === 'string') return value === '' ? null : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** fieldsOf returns the fields in which a contact has a value, those that differ first. */
export function fieldsOf(contacts: readonly Contact[]): { field: string; differs: boolean }[] {
  const keys = new Set(contacts.flatMap((contact) => Object.keys(contact.attributes)));
  const all = [...plainFields, ...[...keys].sort().map((key) => attribute + key)];
  const rows = all.flatMap((field) => {
    const values = contacts.map((contact) => valueOf(contact, field)).filter((value) => value !== null);
    return values.length === 0 ? [] : [{ field, differs: new Set(values).size > 1 }];
  });
  return [...rows.filter((row) => row.differs), ...rows.filter((row) => !row.differs)];
}

/** byRule returns what a merge takes by itself: the survivor's values, and for empty fields the first other one. */
export function byRule(contacts: readonly Contact[], survivor: string): Choice {
  const order = [...contacts.filter(({ id }) => id === survivor), ...contacts.filter(({ id }) => id !== survivor)];
  const choice: Record<string, string> = {};
  for (const { field } of fieldsOf(contacts)) {
    const source = order.find((contact) => valueOf(contact, field) !== null);
    if (source !== undefined) choice[field] = source.id;
  }
  return choice;
}

/** The changes of the merged contact that make it what was chosen. */
export type Changes = Partial<Pick<Contact, PlainField>> & { attributes?: Record<string, unknown> };

/** changesFor returns the changes after a merge by the rule; null if there is none. */
export function changesFor(contacts: readonly Contact[], survivor: string, choice: Choice): Changes | null {
  const rule = byRule(contacts, survivor);
  const changes: Changes = {};
  const attributes: Record<string, unknown> = {};
  for (const [field, from] of Object.entries(choice)) {
    const chosen = contacts.find(({ id }) => id === from);
    const given = contacts.find(({ id }) => id === rule[field]);
    if (chosen === undefined || given === undefined || valueOf(chosen, field) === valueOf(given, field)) continue;
    const plain = plainFields.find((one) => one === field);
    if (plain !== undefined) Object.assign(changes, { [plain]: chosen[plain] });
    else attributes[field.slice(attribute.length)] = chosen.attributes[field.slice(attribute.length)];
  }
  if (Object.keys(attributes).length > 0) changes.attributes = attributes;
  return Object.keys(changes).length === 0 ? null : changes;
}

/** united returns the tags or segments that the merged contact has. */
export function united(contacts: readonly Contact[], of: 'tag' | 'segment'): string[] {
  return [...new Set(contacts.flatMap((contact) => contact[of]))].sort();
}
