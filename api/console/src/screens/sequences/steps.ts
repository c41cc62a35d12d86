import type { Options, Result } from '@/lib/operations';
import type { Problem } from '@/lib/problem';
import { randomId } from '@/lib/random';
import { variantsToInput } from '../mail/variants';

export type Sequence = Result<'get', '/api/v1/sequences/{id}'>;
export type Step = Sequence['steps'][number];
export type Kind = Step['kind'];
export type Delay = Step['delay'];
export type Unit = NonNullable<StepInput['delay']>['unit'];
export type StepInput = NonNullable<NonNullable<Options<'patch', '/api/v1/sequences/{id}'>['body']['steps']>[number]>;
type Email = NonNullable<Step['email']>;

export const kinds: readonly Kind[] = ['email', 'wait', 'task', 'condition', 'update', 'webhook'];

/** The mail that a new step begins with: it has the link without which no sequence is activated. */
const firstText = 'Hi {{ contact.first_name | default: "there" }},\n\n\n\nNo more mails: {{ unsubscribe_url }}';

/** newStep returns a step of a kind to be put at place in steps. Its key is not used by another step. */
export function newStep(kind: Kind, steps: readonly Step[], place: number): Step {
  const before = steps.slice(0, place).some((step) => step.kind === 'email');
  const base: Step = { kind, key: freeKey(kind, steps), delay: delayOf(kind, before) };
  switch (kind) {
    case 'email':
      return {
        ...base,
        email: { html: '', subject: '', text: firstText, thread: before ? 'reply' : 'new', auto: false, variants: [] },
      };
    case 'task':
      return { ...base, task: { assignee: null, title: '', type: 'todo' } };
    case 'condition':
      return {
        ...base,
        condition: { filter: { field: 'clicked', op: 'eq', value: true }, then: '', else: '' },
      };
    case 'update':
      return { ...base, update: { add_tags: [], remove_tags: [], set: {} } };
    case 'webhook':
      return { ...base, webhook: { endpoint_id: '' } };
    case 'wait':
      return base;
  }
}

function delayOf(kind: Kind, afterEmail: boolean): Delay {
  if (kind === 'wait') return { value: 2, unit: 'days' };
  return kind === 'email' && afterEmail ? { value: 3, unit: 'business_days' } : { value: 0, unit: 'days' };
}

function freeKey(kind: Kind, steps: readonly Step[]): string {
  for (;;) {
    const key = `${kind}-${randomId().slice(0, 4)}`;
    if (!steps.some((step) => step.key === key)) return key;
  }
}

export function insertStep(steps: readonly Step[], step: Step, place: number): Step[] {
  return [...steps.slice(0, place), step, ...steps.slice(place)];
}

/** moveStep moves a step to a place, and returns the same list if that is none. */
export function moveStep(steps: readonly Step[], from: number, to: number): readonly Step[] {
  const step = steps[from];
  if (step === undefined || to < 0 || to >= steps.length || from === to) return steps;
  const rest = steps.filter((_, i) => i !== from);
  return insertStep(rest, step, to);
}

/** removeStep removes a step. Branches to it then go on with the next step. */
export function removeStep(steps: readonly Step[], key: string): Step[] {
  const without = (target: string) => (target === key ? '' : target);
  return steps
    .filter((step) => step.key !== key)
    .map((step) => {
      const { condition } = step;
      if (condition === undefined) return step;
      return { ...step, condition: { ...condition, then: without(condition.then), else: without(condition.else) } };
    });
}

export function replaceStep(steps: readonly Step[], next: Step): Step[] {
  return steps.map((step) => (step.key === next.key ? next : step));
}

/** toInput returns a step as a request has it: what is empty is left out. */
export function toInput(step: Step): StepInput {
  const { kind, key, email, task, condition, update, webhook } = step;
  return {
    kind,
    key,
    delay: toDelay(step.delay),
    ...(email !== undefined && { email: mailOf(email) }),
    ...(task !== undefined && { task }),
    ...(condition !== undefined && {
      condition: {
        filter: condition.filter,
        then: condition.then || null,
        else: condition.else || null,
        ...(condition.within !== undefined && { within: toDelay(condition.within) }),
      },
    }),
    ...(update !== undefined && { update }),
    ...(webhook !== undefined && { webhook }),
  };
}

export const units = ['minutes', 'hours', 'days', 'business_days'] as const;

/** unitOf returns the unit of a delay; days, as the service does, for one that the console does not know. */
export function unitOf({ unit }: Delay): Unit {
  return units.find((one) => one === unit) ?? 'days';
}

function toDelay(delay: Delay): { value: number; unit: Unit } {
  return { value: delay.value, unit: unitOf(delay) };
}

function mailOf({ html, subject, text, thread, auto, variants }: Email): NonNullable<StepInput['email']> {
  return {
    thread,
    ...(html !== '' && { html }),
    ...(subject !== '' && { subject }),
    ...(text !== '' && { text }),
    ...(variants.length > 0 && {
      auto,
      variants: variantsToInput(variants),
    }),
  };
}

export interface StepProblem {
  /** The pointer within the step: "/email/subject". */
  pointer: string;
  detail: string;
}

/** problemsOf returns what a request's problem says of each step, by its place, and what it says of the rest. */
export function problemsOf(problem: Pick<Problem, 'errors'> | null): {
  steps: ReadonlyMap<number, readonly StepProblem[]>;
  rest: readonly string[];
} {
  const steps = new Map<number, StepProblem[]>();
  const rest: string[] = [];
  for (const { pointer = '', detail } of problem?.errors ?? []) {
    const match = /^#?\/steps\/(\d+)(\/.*)?$/.exec(pointer);
    if (match === null) {
      rest.push(detail);
      continue;
    }
    const place = Number(match[1]);
    steps.set(place, [...(steps.get(place) ?? []), { pointer: match[2] ?? '', detail }]);
  }
  return { steps, rest };
}

const perDay: Readonly<Record<Unit, number>> = { minutes: 1440, hours: 24, days: 1, business_days: 1 };

/** daysOf returns the day, from 1, on which each step runs at the earliest, if every branch goes on. */
export function daysOf(steps: readonly Step[]): number[] {
  let days = 0;
  return steps.map(({ delay }) => {
    days += delay.value / perDay[unitOf(delay)];
    return Math.floor(days) + 1;
  });
}
