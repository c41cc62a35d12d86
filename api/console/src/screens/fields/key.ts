/** keyOf suggests the key of a field from its name: "Renewal day" gives renewal_day. */
export function keyOf(label: string): string {
  return label
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 64);
}
