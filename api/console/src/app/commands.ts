import { useEffect, useRef } from 'react';
import { createStore } from '@/lib/store';
import type { IconName } from '@/ui/icon';

/** Something a person can do, by the palette and, if it has keys, by the keyboard. */
export interface Command {
  /** Unique among the commands that are there at a time, such as "contacts.create". */
  id: string;
  /** A verb: "Create contact". */
  label: string;
  run: () => void;
  group?: 'Go to' | 'Actions' | 'Settings';
  icon?: IconName;
  /** Keys in KeyHint's form: "c", "g c", "mod k", "shift ?". */
  keys?: string;
  /** Further words by which the palette finds it. */
  words?: string;
  /** Shown among the keys but not in the palette, such as "next row". */
  keyOnly?: boolean;
}

const none: readonly Command[] = [];

/** The commands that can be run now: the last registered first, so that a page's keys come before the shell's. */
export const commands = createStore<readonly Command[]>(none);

/**
 * useCommands makes commands available while the component is mounted. A command whose run or label changes with each
 * render needs no memo: the latest one is run.
 */
export function useCommands(list: readonly Command[]): void {
  const latest = useRef(list);
  latest.current = list;
  const shape = JSON.stringify(list.map(({ run: _, ...rest }) => rest));
  useEffect(() => {
    const mine = latest.current.map((command, i) => ({ ...command, run: () => latest.current[i]?.run() }));
    commands.set((old) => [...mine, ...old]);
    return () => commands.set((old) => old.filter((command) => !mine.includes(command as (typeof mine)[number])));
  }, [shape]);
}
