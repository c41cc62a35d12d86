import { messages } from '@/lib/messages';

const t = messages({
  firstName: 'First name',
  lastName: 'Last name',
  email: 'Email address',
  jobTitle: 'Job title',
  country: 'Country',
  companyName: 'Name of the company',
  senderName: 'Name of the sender',
  orgName: 'Name of your organization',
  unsubscribe: 'Link to unsubscribe',
  preferences: 'Link to choose mails',
});

/** The merge fields that mails can have beside custom fields, with a default where contacts may lack a value. */
export const mergeFields = {
  contact: [
    { name: t('firstName'), text: '{{ contact.first_name | default: "there" }}' },
    { name: t('lastName'), text: '{{ contact.last_name }}' },
    { name: t('email'), text: '{{ contact.email }}' },
    { name: t('jobTitle'), text: '{{ contact.job_title }}' },
    { name: t('country'), text: '{{ contact.country }}' },
  ],
  company: [{ name: t('companyName'), text: '{{ company.name | default: "your company" }}' }],
  sender: [
    { name: t('senderName'), text: '{{ sender.name }}' },
    { name: t('orgName'), text: '{{ org.name }}' },
  ],
  links: [
    { name: t('unsubscribe'), text: '{{ unsubscribe_url }}' },
    { name: t('preferences'), text: '{{ preferences_url }}' },
  ],
} as const;

/** insertAt replaces what is selected in text by insertion, and returns where the cursor is then. */
export function insertAt(text: string, insertion: string, start: number, end: number): { text: string; cursor: number } {
  return { text: text.slice(0, start) + insertion + text.slice(end), cursor: start + insertion.length };
}
