import { expect, test } from 'vitest';
import { addVariant, changeVariant, partsOf, removeVariant, variantsToInput, type Versions } from './variants';

const mail: Versions = { html: '', subject: 'Hello', text: 'Text', variants: [] };

test('the first comparison begins with the mail as it is', () => {
  const two = addVariant(mail);
  expect(two.variants.map((one) => [one.key, one.subject, one.text])).toEqual([
    ['a', 'Hello', 'Text'],
    ['b', 'Hello', 'Text'],
  ]);
  expect(addVariant(two).variants.map((one) => one.key)).toEqual(['a', 'b', 'c']);
});

test('of two variants the one that stays becomes the mail', () => {
  const two = changeVariant(addVariant(mail), 'b', { subject: 'Good day', text: '' });
  expect(removeVariant(two, 'a')).toEqual({ html: '', subject: 'Good day', text: 'Text', variants: [] });
  const three = addVariant(two);
  expect(removeVariant(three, 'a').variants.map((one) => one.key)).toEqual(['b', 'c']);
  expect(removeVariant(three, 'a').subject).toBe('Hello');
});

test('what a variant does not replace is that of the mail, and not sent', () => {
  const variant = { key: 'a', weight: 2, subject: 'Other', text: '', html: '' };
  expect(partsOf({ subject: 'S', text: 'T', html: 'H' }, variant)).toEqual({ subject: 'Other', text: 'T', html: 'H' });
  expect(variantsToInput([variant])).toEqual([{ key: 'a', weight: 2, subject: 'Other' }]);
});
