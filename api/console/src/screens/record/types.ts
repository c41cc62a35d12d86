import type { Result } from '@/lib/operations';

export type Contact = Result<'get', '/api/v1/crm/contacts/{id}'>;
export type Company = Result<'get', '/api/v1/crm/companies/{id}'>;
export type Deal = Result<'get', '/api/v1/crm/deals/{id}'>;
export type Task = Result<'get', '/api/v1/crm/tasks/{id}'>;
export type Note = Result<'get', '/api/v1/crm/notes/{id}'>;
export type TimelineEntry = Result<'get', '/api/v1/crm/contacts/{id}/timeline'>['data'][number];

/** nameOf returns the name of a contact, or its address where it has none. */
export function nameOf(contact: Pick<Contact, 'first_name' | 'last_name' | 'email'>): string {
  return `${contact.first_name} ${contact.last_name}`.trim() || contact.email;
}
