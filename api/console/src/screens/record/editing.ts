import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Answer } from '@/lib/api';
import { saveEdit, StaleError } from '@/lib/edit';
import { Submission } from '@/lib/submission';

type Fields = Record<string, unknown>;

/** How a record is written and read again. */
export interface Calls<T> {
  patch: (changes: Partial<T>, etag: string | null, idempotencyKey: string) => Promise<Answer<T>>;
  get: () => Promise<Answer<T>>;
}

/** Editing is a record whose fields are edited one by one and saved at once. */
export interface Editing<T extends Fields> {
  /** The version that is stored, as far as is known. */
  answer: Answer<T>;
  /** The record with the changes that are under way. */
  value: T;
  /** False for those who may only read. */
  may: boolean;
  state: (field: string) => 'saving' | 'saved' | 'failed' | undefined;
  error: (field: string) => unknown;
  /** Saves changes to the version base. It resolves false if that failed; a conflict is asked about instead. */
  save: (changes: Partial<T>, base?: Answer<T>) => Promise<boolean>;
  /** Forgets that a change of field failed, because the person gave it up. */
  forget: (field: string) => void;
  conflict: StaleError<T> | null;
  /** Ends the conflict: with one's own version, or without. */
  settle: (mine: boolean) => void;
}

const tickTime = 2000;

/**
 * useEditing saves fields of the record answer, which was read with queryKey. A change is shown at once and taken back
 * if it fails; if somebody else changed the same field, conflict has both versions.
 */
export function useEditing<T extends Fields>(
  answer: Answer<T>,
  queryKey: readonly unknown[],
  may: boolean,
  calls: Calls<T>,
  onSaved: (record: T) => void,
): Editing<T> {
  const queries = useQueryClient();
  const [pending, setPending] = useState<Partial<T>>({});
  const [saved, setSaved] = useState<readonly string[]>([]);
  const [errors, setErrors] = useState<Readonly<Record<string, unknown>>>({});
  const [conflict, setConflict] = useState<StaleError<T> | null>(null);
  const submission = useRef(new Submission());
  useEffect(() => {
    if (saved.length === 0) return;
    const timer = setTimeout(() => setSaved([]), tickTime);
    return () => clearTimeout(timer);
  }, [saved]);

  const without = <V extends object>(from: V, names: readonly string[]): V => {
    const entries = Object.entries(from).filter(([name]) => !names.includes(name));
    return Object.fromEntries(entries) as V;
  };
  const save = async (changes: Partial<T>, base = answer): Promise<boolean> => {
    const names = Object.keys(changes);
    setPending((old) => ({ ...old, ...changes }));
    setErrors((old) => without(old, names));
    try {
      const stored = await submission.current.run([changes, base.etag], (key) =>
        saveEdit(base, changes, {
          patch: (_, etag) => calls.patch(changes, etag, etag === base.etag ? key : crypto.randomUUID()),
          get: calls.get,
        }),
      );
      queries.setQueryData(queryKey, stored);
      setSaved(names);
      onSaved(stored.data);
      return true;
    } catch (error) {
      if (error instanceof StaleError) {
        setConflict(error as StaleError<T>);
        return true;
      }
      setErrors((old) => ({ ...old, ...Object.fromEntries(names.map((name) => [name, error])) }));
      return false;
    } finally {
      setPending((old) => without(old, names));
    }
  };
  return {
    answer,
    value: { ...answer.data, ...pending },
    may,
    state: (field) =>
      field in pending ? 'saving' : field in errors ? 'failed' : saved.includes(field) ? 'saved' : undefined,
    error: (field) => errors[field],
    save,
    forget: (field) => setErrors((old) => without(old, [field])),
    conflict,
    settle: (mine) => {
      if (conflict === null) return;
      setConflict(null);
      queries.setQueryData(queryKey, conflict.theirs);
      if (mine) void save(conflict.mine as Partial<T>, conflict.theirs);
    },
  };
}
