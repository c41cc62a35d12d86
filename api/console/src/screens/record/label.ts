/** label returns a key such as "sales_qualified" as people read it. Short keys without vowels, such as "mql", are abbreviations. */
export function label(key: string): string {
  if (/^[^aeiou_\W\d]{2,3}$/.test(key)) return key.toUpperCase();
  const words = key.replace(/[_-]+/g, ' ');
  return words.charAt(0).toLocaleUpperCase('en') + words.slice(1);
}
