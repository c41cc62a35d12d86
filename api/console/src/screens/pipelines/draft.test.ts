import { expect, test } from 'vitest';
import { chanceOf, draftOf, toStages } from './draft';

test('a draft that was not changed gives the stages that are stored', () => {
  const stages = [
    { id: 'a', name: 'Talk', kind: 'open' as const, probability: 20 },
    { id: 'b', name: 'Won', kind: 'won' as const, probability: 100 },
    { id: 'c', name: 'Lost', kind: 'lost' as const, probability: 0 },
  ];
  expect(toStages(draftOf(stages))).toEqual(stages);
});

test('a stage that becomes won is certain, and a new one has no id', () => {
  expect(toStages([{ name: ' Signed ', kind: 'won', chance: '30' }])).toEqual([
    { name: 'Signed', kind: 'won', probability: 100 },
  ]);
});

test('a chance is a whole percentage', () => {
  expect(['0', '7', '100', '101', '-1', '1.5', ''].map(chanceOf)).toEqual([0, 7, 100, 50, 50, 50, 50]);
});
