import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { describe } from '@/lib/describe';
import type { Api } from '@/lib/api';
import { randomId } from '@/lib/random';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { toast } from '@/ui/toast';
import { dealOf, moveDeal, moveTo, placeOf, removeDeal, replaceDeal, type Board, type Place } from './board';
import { t } from './messages';

export const boardPath = '/api/v1/crm/pipelines/{id}/board';

export interface BoardState {
  board: Board | undefined;
  error: unknown;
  again: () => void;
  /** Moves a deal at once, and back if the service refuses. extra is sent with it. */
  move: (id: string, to: Place, extra?: { lost_reason?: string }) => Promise<boolean>;
  remove: (id: string) => void;
  /** Reads the next page of a stage. */
  more: (stageId: string) => void;
  loadingStage: string | null;
}

/** useBoard reads the board of a pipeline: the first page of each stage, and as many further pages as were asked for. */
export function useBoard(pipelineId: string): BoardState {
  const api = useApi();
  const scope = useScope();
  const queries = useQueryClient();
  const queryKey = [boardPath, { path: { id: pipelineId } }] as const;
  const depth = useRef(new Map<string, number>());
  const [loadingStage, setLoadingStage] = useState<string | null>(null);
  const underWay = useRef<Promise<unknown>>(Promise.resolve());
  const waiting = useRef(0);
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => readBoard(api, pipelineId, depth.current, signal),
  });
  const change = (edit: (board: Board) => Board) =>
    queries.setQueryData<Board>(queryKey, (old) => (old === undefined ? old : edit(old)));
  const stored = () => queries.getQueryData<Board>(queryKey);

  const move = async (id: string, to: Place, extra: { lost_reason?: string } = {}): Promise<boolean> => {
    const before = stored();
    const from = before === undefined ? null : placeOf(before, id);
    if (before === undefined || from === null) return false;
    const body = moveTo(before, id, to);
    if (body === null) return true;
    const deal = dealOf(before, id);
    void queries.cancelQueries({ queryKey });
    change((board) => moveDeal(board, id, to));
    waiting.current++;
    // One after another, since the place of a later move may be named by an earlier one.
    const sent = underWay.current
      .catch(() => {})
      .then(() =>
        api.patch('/api/v1/crm/deals/{id}', {
          path: { id },
          body: { ...body, ...extra },
          idempotencyKey: randomId(),
        }),
      );
    underWay.current = sent;
    try {
      const { data } = await sent;
      change((board) => replaceDeal(board, data));
      return true;
    } catch (error) {
      change((board) => moveDeal(board, id, from));
      const { detail, request_id } = describe(error) ?? { detail: '', request_id: undefined };
      const title = t('notMoved', { name: deal?.name ?? '' });
      toast({ kind: 'bad', title, detail, ...(request_id !== undefined && { requestId: request_id }) });
      return false;
    } finally {
      waiting.current--;
      if (waiting.current === 0) invalidate(scope, '/api/v1/crm/pipelines', '/api/v1/crm/deals');
    }
  };
  const more = (stageId: string) => {
    depth.current.set(stageId, (depth.current.get(stageId) ?? 1) + 1);
    setLoadingStage(stageId);
    void query.refetch().finally(() => setLoadingStage(null));
  };
  return {
    board: query.data,
    error: query.error,
    again: () => void query.refetch(),
    move,
    remove: (id) => {
      change((board) => removeDeal(board, id));
    },
    more,
    loadingStage,
  };
}

async function readBoard(api: Api, id: string, depth: ReadonlyMap<string, number>, signal: AbortSignal): Promise<Board> {
  const { data } = await api.get(boardPath, { path: { id }, signal });
  const stages = await Promise.all(
    data.stages.map(async (stage) => {
      let whole = stage;
      for (let page = 1; page < (depth.get(stage.stage_id) ?? 1) && whole.next_cursor !== null; page++) {
        const query = { stage_id: stage.stage_id, cursor: whole.next_cursor };
        const next = (await api.get(boardPath, { path: { id }, query, signal })).data.stages[0];
        if (next === undefined) break;
        const known = new Set(whole.deals.map((deal) => deal.id));
        whole = { ...next, deals: [...whole.deals, ...next.deals.filter((deal) => !known.has(deal.id))] };
      }
      return whole;
    }),
  );
  return { ...data, stages };
}
