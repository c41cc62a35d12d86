import { expect, test } from 'vitest';
import { countriesOf } from './words';

test('country codes are read however they are separated', () => {
  expect(countriesOf(' de, fr;\nUS ')).toEqual(['DE', 'FR', 'US']);
  expect(countriesOf('')).toEqual([]);
});
