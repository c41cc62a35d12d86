import type { Command } from './commands';

/** A sequence such as "g c" must be typed within this many milliseconds. */
const sequenceTime = 1000;

export interface KeysDeps {
  commands: () => readonly Command[];
  /** Single-letter keys act (WCAG 2.1.4). Keys with Ctrl or Command always do. */
  enabled: () => boolean;
}

/**
 * listenForKeys runs the command whose keys are typed. Letters do nothing in fields, in menus, and behind a dialog.
 * It returns a function that ends it.
 */
export function listenForKeys(target: EventTarget, deps: KeysDeps): () => void {
  let before = '';
  let at = 0;
  const hear = (raw: Event) => {
    const event = raw as KeyboardEvent;
    if (event.defaultPrevented || event.isComposing || event.repeat) return;
    const key = keyOf(event);
    if (key === null) return;
    const chord = key.startsWith('mod ');
    if (!chord && (!deps.enabled() || isTaken(event.target))) {
      before = '';
      return;
    }
    const sequence = before !== '' && event.timeStamp - at < sequenceTime ? `${before} ${key}` : '';
    const all = deps.commands();
    const command = all.find((c) => c.keys === sequence) ?? all.find((c) => c.keys === key);
    before = command === undefined && all.some((c) => c.keys?.startsWith(`${key} `)) ? key : '';
    at = event.timeStamp;
    if (command === undefined) return;
    event.preventDefault();
    command.run();
  };
  target.addEventListener('keydown', hear);
  return () => target.removeEventListener('keydown', hear);
}

/** keyOf returns the key in KeyHint's form, or null for keys that no command has. */
export function keyOf(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>): string | null {
  if (event.altKey || ['Control', 'Shift', 'Meta', 'Alt', 'Tab', 'Dead'].includes(event.key)) return null;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key.toLowerCase().replace('escape', 'esc');
  return event.ctrlKey || event.metaKey ? `mod ${name}` : name;
}

/** isTaken reports whether letters typed there belong to a field, a menu or a dialog. */
function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio]), textarea, select'))
    return true;
  return target.closest('[role=dialog], [role=alertdialog], [role=menu], [role=listbox], [role=combobox]') !== null;
}
