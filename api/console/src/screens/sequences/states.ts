/** The states of an enrolment, in the order of the filter. */
export const states = [
  'pending',
  'active',
  'sending',
  'paused',
  'replied',
  'finished',
  'goal_met',
  'unsubscribed',
  'bounced',
  'failed',
  'removed',
] as const;
export type State = (typeof states)[number];
