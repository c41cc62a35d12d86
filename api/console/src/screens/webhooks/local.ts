/** toLocal returns a time as an input of type datetime-local takes it, in the browser's time zone, to the minute. */
export function toLocal(at: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** fromLocal is the inverse of toLocal, as the API takes times. What is no time stays as typed, for the API to refuse. */
export function fromLocal(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}
