/** What an enrolment did, or would do. */
export interface Outcome {
  enrolled: number;
  skipped: number;
  /** The contacts that were left out, by reason. */
  reasons: Readonly<Record<string, number>>;
}

/** countResults counts the results of contacts that were enrolled one by one. */
export function countResults(
  results: readonly { result: 'enrolled' | 'skipped'; reason: string | null }[],
): Outcome {
  const reasons: Record<string, number> = {};
  let enrolled = 0;
  for (const { result, reason } of results) {
    if (result === 'enrolled') enrolled++;
    else reasons[reason ?? 'unknown'] = (reasons[reason ?? 'unknown'] ?? 0) + 1;
  }
  return { enrolled, skipped: results.length - enrolled, reasons };
}
