import type { components } from '@/lib/api.gen';

type Schemas = components['schemas'];
/** An event type, as the API's document lists those of today. */
export type EventTypeName = Schemas['EventTypeName'];
/** An event type, or * for all. */
export type EventTypeSelector = Schemas['EventTypeSelector'];

interface Type {
  type: string;
  description: string;
}

export interface Group<T> {
  /** The noun as people read it: "Social account". */
  noun: string;
  types: T[];
}

/** groupTypes groups event types by their noun, in the order of the catalogue; search is found in type and description. */
export function groupTypes<T extends Type>(all: readonly T[], search = ''): Group<T>[] {
  const wanted = search.trim().toLowerCase();
  const groups = new Map<string, T[]>();
  for (const one of all) {
    if (!`${one.type} ${one.description}`.toLowerCase().includes(wanted)) continue;
    const noun = nounOf(one.type);
    groups.set(noun, [...(groups.get(noun) ?? []), one]);
  }
  return [...groups].map(([noun, types]) => ({ noun, types }));
}

/** nounOf returns the noun of an event type: "social_account.connected" is about a "Social account". */
export function nounOf(type: string): string {
  const noun = type.slice(0, type.lastIndexOf('.')).replaceAll(/[._]/g, ' ');
  return noun.charAt(0).toUpperCase() + noun.slice(1);
}

export function toggleType(value: readonly string[], type: string, on: boolean): string[] {
  const rest = value.filter((one) => one !== type);
  return on ? [...rest, type] : rest;
}

/** toggleGroup chooses all shown types of a group, or none of them. */
export function toggleGroup(value: readonly string[], group: readonly Type[], on: boolean): string[] {
  const rest = value.filter((one) => !group.some(({ type }) => type === one));
  return on ? [...rest, ...group.map(({ type }) => type)] : rest;
}
