/** The state of the list of segments, as its address has it. */
export interface SegmentSearch {
  kind?: 'static' | 'dynamic';
  archived?: boolean;
}

/** readSearch returns the state that an address has; what is malformed is left out. */
export function readSearch(raw: Record<string, unknown>): SegmentSearch {
  const { kind, archived } = raw;
  return {
    ...((kind === 'static' || kind === 'dynamic') && { kind }),
    ...(archived === true && { archived }),
  };
}
