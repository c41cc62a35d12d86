import { expect, test } from 'vitest';
import { contrast, formatRatio, onColour, parseColour } from './contrast';

test('the contrast is that of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
  expect(contrast('#fff', '#FFFFFF')).toBe(1);
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
  expect(contrast('#cccccc', '#ffffff')).toBeCloseTo(1.61, 2);
});

test('what is no colour has no contrast', () => {
  for (const text of ['', 'red', '#12', '#12345g', '#1234567']) expect(parseColour(text)).toBeNull();
  expect(contrast('red', '#fff')).toBeNull();
});

test('text on a colour is the more readable of black and white', () => {
  expect(onColour('#0b5fff')).toBe('#ffffff');
  expect(onColour('#ffd500')).toBe('#000000');
});

test('a ratio is cut and never rounded up', () => {
  expect(formatRatio(4.499)).toBe('4.49:1');
  expect(formatRatio(21)).toBe('21.00:1');
});
