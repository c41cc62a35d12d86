/** formatEstimate returns a list's estimated total. It is exact up to 1,000; 1,001 means any number above. */
export function formatEstimate(total: number): string {
  return total === 1001 ? `${(1000).toLocaleString('en')}+` : total.toLocaleString('en');
}
