/** Weight is what one value of a feature adds to the log odds. */
export interface Weight {
  feature: string;
  value: string;
  weight: number;
  count: number;
}

/** Shown is a weight with the length of its bar, as a share of the longest. */
export interface Shown extends Weight {
  share: number;
}

/** strongest returns the weights that move scores the most, the strongest first. Weights of nothing are left out. */
export function strongest<W extends Weight>(weights: readonly W[], most: number): (W & Shown)[] {
  const all = weights
    .filter(({ weight }) => Math.abs(weight) >= 0.005)
    .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight))
    .slice(0, most);
  const longest = Math.abs(all[0]?.weight ?? 1);
  return all.map((one) => ({ ...one, share: Math.abs(one.weight) / longest }));
}

/** signed returns a weight with its sign: "+0.42", "−1.10". */
export function signed(weight: number): string {
  return `${weight < 0 ? '−' : '+'}${Math.abs(weight).toFixed(2)}`;
}
