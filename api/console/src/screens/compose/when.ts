const morning = 9;

/** A moment that mail is often sent later. */
export interface Choice {
  name: 'tomorrow' | 'monday';
  at: Date;
}

/** choicesFrom returns moments after now on this computer's clock: tomorrow morning, and Monday's if that is later. */
export function choicesFrom(now: Date): Choice[] {
  const inDays = (days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, morning);
  const toMonday = (8 - now.getDay()) % 7 || 7;
  const tomorrow: Choice = { name: 'tomorrow', at: inDays(1) };
  return toMonday === 1 ? [tomorrow] : [tomorrow, { name: 'monday', at: inDays(toMonday) }];
}

/** momentOf returns the moment of a day and a time on this computer's clock; null unless it is after now. */
export function momentOf(day: string, time: string, now: Date): Date | null {
  const at = new Date(`${day}T${time}`);
  return at.getTime() > now.getTime() ? at : null;
}

/** dayOf returns the day of a moment as a field for days has it. */
export function dayOf(at: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
