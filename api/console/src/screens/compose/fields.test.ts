import { expect, test } from 'vitest';
import { mergeFields } from '../mail/merge';
import { cleanFallback, fieldName, fieldSource, splitFields, typedField, fieldOf } from './fields';

test('merge fields are found with their default, and other tags stay text', () => {
  expect(splitFields('Hi {{ contact.first_name | default: "there" }}, {{contact.email}}!')).toEqual([
    'Hi ',
    { path: 'contact.first_name', fallback: 'there' },
    ', ',
    { path: 'contact.email', fallback: null },
    '!',
  ]);
  for (const source of [
    '{% if contact.country == "DE" %}Hallo{% endif %}',
    '{{ contact.created_at | date: "%d %b" }}',
    '{{ contact.first_name | upcase }}',
    '{{ contact.list[0] }}',
    '{{ }} and {{',
    'no field',
  ]) {
    expect(splitFields(source)).toEqual([source]);
  }
});

test('quotes of word processors are quotes', () => {
  expect(splitFields('{{ contact.first_name | default: “there” }}')).toEqual([
    { path: 'contact.first_name', fallback: 'there' },
  ]);
  expect(splitFields("{{ contact.first_name | default: 'you \"two\"' }}")).toEqual([
    { path: 'contact.first_name', fallback: 'you "two"' },
  ]);
});

test('a merge field is written as it was read', () => {
  for (const field of [
    { path: 'contact.first_name', fallback: 'there' },
    { path: 'contact.attributes.renewal_day', fallback: null },
    { path: 'company.name', fallback: '' },
    { path: 'unsubscribe_url', fallback: null },
    { path: 'contact.job_title', fallback: "the boss's desk" },
  ]) {
    expect(splitFields(fieldSource(field))).toEqual([field]);
  }
});

test('a default cannot end its literal or its field', () => {
  expect(cleanFallback('a "b" }} {% c %}\n“d”')).toBe('a b  % c %d');
  const [read] = splitFields(fieldSource({ path: 'contact.email', fallback: 'x" }}{{ org.name }}' }));
  expect(read).toEqual({ path: 'contact.email', fallback: 'x  org.name ' });
});

test('a field that was typed at the end is taken', () => {
  const match = typedField.exec('Hi {{ contact.last_name }}');
  expect(match && fieldOf(match)).toEqual({ path: 'contact.last_name', fallback: null });
  expect(typedField.exec('{{ contact.last_name }} !')).toBeNull();
});

test('each field that can be inserted has a name', () => {
  for (const { name, text } of Object.values(mergeFields).flat()) {
    const [field] = splitFields(text);
    expect(typeof field === 'object' && fieldName(field.path)).toBe(name);
  }
  expect(fieldName('contact.attributes.plan', new Map([['plan', 'Plan']]))).toBe('Plan');
  expect(fieldName('contact.attributes.other')).toBe('contact.attributes.other');
});
