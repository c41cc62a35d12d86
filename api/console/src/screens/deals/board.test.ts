import { expect, test } from 'vitest';
import { moveDeal, moveTo, nearest, placeOf, removeDeal, step, type Board, type Deal } from './board';

const deal = (id: string, stage_id: string, amount: number, currency = 'USD'): Deal => ({
  id,
  name: id,
  stage_id,
  amount,
  currency,
  pipeline_id: 'p',
  position: id,
  status: 'open',
  archived_at: null,
  closed_at: null,
  company_id: null,
  external_ids: {},
  contact_id: null,
  created_at: '2026-03-01T00:00:00.000000Z',
  expected_close_on: null,
  lost_reason: null,
  owner_id: null,
  updated_at: '2026-03-01T00:00:00.000000Z',
});

const board: Board = {
  pipeline_id: 'p',
  stages: [
    {
      stage_id: 'new',
      count: 60,
      sums: [{ currency: 'USD', amount: 600 }],
      deals: [deal('a', 'new', 100), deal('b', 'new', 200), deal('c', 'new', 300)],
      next_cursor: 'more',
    },
    { stage_id: 'empty', count: 0, sums: [], deals: [], next_cursor: null },
    {
      stage_id: 'won',
      count: 2,
      sums: [{ currency: 'EUR', amount: 70 }],
      deals: [deal('d', 'won', 30, 'EUR'), deal('e', 'won', 40, 'EUR')],
      next_cursor: null,
    },
  ],
};
const idsOf = (b: Board) => b.stages.map((stage) => stage.deals.map((one) => one.id).join(''));

test('a move takes the deal, its count and its amount to the other stage', () => {
  const moved = moveDeal(board, 'b', { stageId: 'won', index: 1 });
  expect(idsOf(moved)).toEqual(['ac', '', 'dbe']);
  expect(moved.stages.map((stage) => stage.count)).toEqual([59, 0, 3]);
  expect(moved.stages.map((stage) => stage.sums)).toEqual([
    [{ currency: 'USD', amount: 400 }],
    [],
    [
      { currency: 'EUR', amount: 70 },
      { currency: 'USD', amount: 200 },
    ],
  ]);
});

test('a move back restores the board', () => {
  const there = moveDeal(board, 'd', { stageId: 'new', index: 3 });
  expect(moveDeal(there, 'd', { stageId: 'won', index: 0 })).toEqual(board);
});

test('within a stage a move changes the order and no figure', () => {
  const moved = moveDeal(board, 'a', { stageId: 'new', index: 2 });
  expect(idsOf(moved)).toEqual(['bca', '', 'de']);
  expect(moved.stages[0]?.count).toBe(60);
});

test('a place is sent as the deal before it, or the one behind it at the top', () => {
  expect(moveTo(board, 'a', { stageId: 'new', index: 2 })).toEqual({ after_id: 'c' });
  expect(moveTo(board, 'c', { stageId: 'new', index: 0 })).toEqual({ before_id: 'a' });
  expect(moveTo(board, 'a', { stageId: 'won', index: 2 })).toEqual({ stage_id: 'won', after_id: 'e' });
});

test('the top of another stage needs no neighbour, and neither does an empty one', () => {
  expect(moveTo(board, 'a', { stageId: 'won', index: 0 })).toEqual({ stage_id: 'won' });
  expect(moveTo(board, 'a', { stageId: 'empty', index: 0 })).toEqual({ stage_id: 'empty' });
});

test('a deal that is there already is not sent', () => {
  expect(moveTo(board, 'b', { stageId: 'new', index: 1 })).toBeNull();
});

test('arrows step between rows and stages, to the end of a shorter one', () => {
  expect(step(board, { stageId: 'new', index: 2 }, 'ArrowDown')).toBeNull();
  expect(step(board, { stageId: 'new', index: 1 }, 'ArrowUp')).toEqual({ stageId: 'new', index: 0 });
  expect(step(board, { stageId: 'new', index: 2 }, 'ArrowRight')).toEqual({ stageId: 'empty', index: 0 });
  expect(step(board, { stageId: 'new', index: 2 }, 'ArrowLeft')).toBeNull();
});

test('the focus goes past empty stages and keeps its row, or takes the last of a shorter stage', () => {
  expect(nearest(board, { stageId: 'new', index: 2 }, 'ArrowRight')).toBe('e');
  expect(nearest(board, { stageId: 'won', index: 1 }, 'ArrowLeft')).toBe('b');
});

test('a removed deal is neither listed nor counted', () => {
  const without = removeDeal(board, 'd');
  expect(placeOf(without, 'd')).toBeNull();
  expect(without.stages[2]).toMatchObject({ count: 1, sums: [{ currency: 'EUR', amount: 40 }] });
});
