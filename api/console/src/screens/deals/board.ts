import type { Result } from '@/lib/operations';

type ReadBoard = Result<'get', '/api/v1/crm/pipelines/{id}/board'>;

/** A deal. Those that were read with the board have the names that a card shows. */
export type Deal = Result<'get', '/api/v1/crm/deals/{id}'> & {
  contact_name?: string | null;
  company_name?: string | null;
};
export type BoardStage = Omit<ReadBoard['stages'][number], 'deals'> & { deals: Deal[] };
export type Board = Omit<ReadBoard, 'stages'> & { stages: BoardStage[] };
export type Pipeline = Result<'get', '/api/v1/crm/pipelines/{id}'>;
export type Stage = Pipeline['stages'][number];

/** A place on the board: the deal is at index of the stage once it is there. */
export interface Place {
  stageId: string;
  index: number;
}

/** What PATCH takes to move a deal. The service computes the position. */
export interface Move {
  stage_id?: string;
  before_id?: string;
  after_id?: string;
}

/** placeOf returns where the deal is, or null if no loaded page has it. */
export function placeOf(board: Board, id: string): Place | null {
  for (const stage of board.stages) {
    const index = stage.deals.findIndex((deal) => deal.id === id);
    if (index >= 0) return { stageId: stage.stage_id, index };
  }
  return null;
}

export function dealOf(board: Board, id: string): Deal | undefined {
  for (const stage of board.stages) {
    const found = stage.deals.find((deal) => deal.id === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** moveDeal returns the board with the deal at a place, and the counts and sums of both stages changed with it. */
export function moveDeal(board: Board, id: string, to: Place): Board {
  const deal = dealOf(board, id);
  const from = placeOf(board, id);
  if (deal === undefined || from === null) return board;
  const moved: Deal = { ...deal, stage_id: to.stageId };
  return {
    ...board,
    stages: board.stages.map((stage) => {
      const leaves = stage.stage_id === from.stageId;
      const arrives = stage.stage_id === to.stageId;
      if (!leaves && !arrives) return stage;
      const deals = stage.deals.filter((one) => one.id !== id);
      if (arrives) deals.splice(to.index, 0, moved);
      const by = Number(arrives) - Number(leaves);
      return { ...stage, deals, count: stage.count + by, sums: by === 0 ? stage.sums : addTo(stage.sums, deal, by) };
    }),
  };
}

/** removeDeal returns the board without the deal. */
export function removeDeal(board: Board, id: string): Board {
  const deal = dealOf(board, id);
  if (deal === undefined) return board;
  return {
    ...board,
    stages: board.stages.map((stage) =>
      stage.stage_id !== deal.stage_id
        ? stage
        : {
            ...stage,
            deals: stage.deals.filter((one) => one.id !== id),
            count: stage.count - 1,
            sums: addTo(stage.sums, deal, -1),
          },
    ),
  };
}

/** replaceDeal returns the board with the stored version of a deal in its place. */
export function replaceDeal(board: Board, deal: Deal): Board {
  return {
    ...board,
    stages: board.stages.map((stage) => ({
      ...stage,
      deals: stage.deals.map((one) => (one.id === deal.id ? deal : one)),
    })),
  };
}

/**
 * moveTo returns what to send so that the deal comes to a place: the stage if it is another one, and one neighbour.
 * The first of a stage needs none when it comes from another stage, since the service puts it on top. null: it is
 * there already.
 */
export function moveTo(board: Board, id: string, to: Place): Move | null {
  const from = placeOf(board, id);
  const stage = board.stages.find((one) => one.stage_id === to.stageId);
  if (from === null || stage === undefined) return null;
  const changes = from.stageId !== to.stageId;
  if (!changes && from.index === to.index) return null;
  const others = stage.deals.filter((deal) => deal.id !== id);
  const before = others[to.index];
  const after = others[to.index - 1];
  const move: Move = changes ? { stage_id: to.stageId } : {};
  if (after !== undefined) return { ...move, after_id: after.id };
  if (before !== undefined && !changes) return { ...move, before_id: before.id };
  return move;
}

/** step returns the place that an arrow key leads to, or null at an edge. */
export function step(board: Board, at: Place, key: string): Place | null {
  const column = board.stages.findIndex((stage) => stage.stage_id === at.stageId);
  const stage = board.stages[column];
  if (stage === undefined) return null;
  if (key === 'ArrowUp') return at.index > 0 ? { ...at, index: at.index - 1 } : null;
  if (key === 'ArrowDown') return at.index < stage.deals.length - 1 ? { ...at, index: at.index + 1 } : null;
  const next = board.stages[column + (key === 'ArrowLeft' ? -1 : key === 'ArrowRight' ? 1 : NaN)];
  return next === undefined ? null : { stageId: next.stage_id, index: Math.min(at.index, next.deals.length) };
}

/**
 * nearest returns the deal that the focus goes to from a place: in the direction of the key, past empty stages, and
 * in the row of the place or the last one of a shorter stage.
 */
export function nearest(board: Board, at: Place, key: string): string | null {
  for (let place = step(board, at, key); place !== null; place = step(board, { ...place, index: at.index }, key)) {
    const { deals } = board.stages.find((stage) => stage.stage_id === place?.stageId) ?? { deals: [] };
    const deal = deals[Math.min(place.index, deals.length - 1)];
    if (deal !== undefined) return deal.id;
  }
  return null;
}

type Sums = BoardStage['sums'];

function addTo(sums: Sums, deal: Deal, by: number): Sums {
  const found = sums.find((sum) => sum.currency === deal.currency);
  if (found === undefined) return by > 0 ? [...sums, { currency: deal.currency, amount: deal.amount }] : sums;
  return sums
    .map((sum) => (sum === found ? { ...sum, amount: sum.amount + by * deal.amount } : sum))
    .filter((sum) => sum.currency !== deal.currency || sum.amount !== 0);
}
