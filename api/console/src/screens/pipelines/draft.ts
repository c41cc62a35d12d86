import type { Result } from '@/lib/operations';

export type Pipeline = Result<'get', '/api/v1/crm/pipelines/{id}'>;
export type Stage = Pipeline['stages'][number];
export type Kind = Stage['kind'];

/** StageDraft is a stage as it is typed. It has an id once it is stored. */
export interface StageDraft {
  id?: string;
  name: string;
  kind: Kind;
  /** Percent, as typed; open stages alone have one of their own. */
  chance: string;
}

export function draftOf(stages: readonly Stage[]): StageDraft[] {
  return stages.map(({ id, name, kind, probability }) => ({ id, name, kind, chance: String(probability) }));
}

/** toStages returns the stages as PATCH takes them. Won stages are certain and lost ones hopeless by definition. */
export function toStages(drafts: readonly StageDraft[]) {
  return drafts.map(({ id, name, kind, chance }) => ({
    ...(id !== undefined && { id }),
    name: name.trim(),
    kind,
    probability: kind === 'won' ? 100 : kind === 'lost' ? 0 : chanceOf(chance),
  }));
}

/** chanceOf returns a whole percentage; what is none counts as 50, which the API takes for a stage without one. */
export function chanceOf(text: string): number {
  return /^(100|\d{1,2})$/.test(text.trim()) ? Number(text) : 50;
}
