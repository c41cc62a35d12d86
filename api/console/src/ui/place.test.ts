import { expect, test } from 'vitest';
import { place, type Side } from './place';

const page = { width: 400, height: 300 };
const tip = { width: 100, height: 20 };

test.each<[string, { left: number; top: number }, Side, { left: number; top: number }]>([
  ['is centred above', { left: 200, top: 100 }, 'top', { left: 165, top: 74 }],
  ['is centred at the right', { left: 200, top: 100 }, 'right', { left: 236, top: 105 }],
  ['goes below where there is no room above', { left: 200, top: 10 }, 'top', { left: 165, top: 46 }],
  ['goes above where there is no room below', { left: 200, top: 270 }, 'bottom', { left: 165, top: 244 }],
  ['goes left where there is no room at the right', { left: 350, top: 100 }, 'right', { left: 244, top: 105 }],
  ['stays within the page', { left: 0, top: 100 }, 'top', { left: 8, top: 74 }],
  ['stays within the page at the other edge', { left: 370, top: 100 }, 'top', { left: 292, top: 74 }],
])('a tooltip %s', (_, at, side, want) => {
  expect(place({ ...at, width: 30, height: 30 }, tip, page, side)).toEqual(want);
});
