import type { Preview } from '../mail/preview';

type Finding = Preview['lint'][number];

// What only concerns mail to many: a mail to one contact needs no link to unsubscribe, and if that contact has a value,
// it does not matter how many others lack it.
const forMany = ['unsubscribe_missing', 'fallback_missing', 'text_missing'];
const weight: Readonly<Record<Finding['severity'], number>> = { error: 0, warning: 1, info: 2 };

/** findingsFor returns what to look at in a mail to one contact, the gravest first. */
export function findingsFor(lint: readonly Finding[]): Finding[] {
  return lint
    .filter(({ code }) => !forMany.includes(code))
    .toSorted((a, b) => weight[a.severity] - weight[b.severity]);
}
