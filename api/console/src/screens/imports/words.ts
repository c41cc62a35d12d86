import type { Result } from '@/lib/operations';
import type { Row } from '@/lib/read';
import type { Tone } from '@/ui/status';
import { t } from './messages';
import { targets } from './mapping';

export type Import = Result<'get', '/api/v1/crm/contacts/imports/{id}'>;
export type Export = Row<'/api/v1/crm/contacts/exports'>;

/** targetWord returns the name of a field that a column becomes; custom has the names of custom fields by key. */
export function targetWord(target: string, custom: ReadonlyMap<string, string>): string {
  const built = targets.find((one) => one === target);
  if (built !== undefined) return built === 'segment' ? t('segmentField') : t(built);
  const key = target.replace(/^attributes\./, '');
  const name = custom.get(key);
  return name === undefined ? t('newField', { name: key }) : t('custom', { name });
}

const reasons = ['mapped_to_null', 'read_only', 'id_not_mapped', 'invalid_key'] as const;

/** reasonWord says why a column is left out; a reason that is not known stays as it is. */
export function reasonWord(reason: string): string {
  const known = reasons.find((one) => one === reason);
  return known === undefined ? reason.replaceAll('_', ' ') : t(known);
}

const types = ['string', 'number', 'boolean', 'date'] as const;

/** typeWord returns the name of a custom field's type. */
export function typeWord(type: string): string {
  const known = types.find((one) => one === type);
  return known === undefined ? type : t(`type_${known}`);
}

export interface State {
  tone: Tone;
  word: string;
}

/** importState returns the state of an import in a word; an undo comes before the import itself. */
export function importState({ status, undo }: Pick<Import, 'status' | 'undo'>): State {
  if (undo !== null) {
    if (undo.status === 'completed') return { tone: 'off', word: t('undone') };
    if (undo.status !== 'failed') return { tone: 'busy', word: t('undoing') };
  }
  return stateOf(status);
}

export function stateOf(status: Export['status']): State {
  switch (status) {
    case 'queued':
      return { tone: 'off', word: t('queued') };
    case 'running':
      return { tone: 'busy', word: t('running') };
    case 'completed':
      return { tone: 'good', word: t('completed') };
    case 'failed':
      return { tone: 'bad', word: t('failedState') };
    case 'expired':
      return { tone: 'off', word: t('expired') };
  }
}

/** isActive reports whether an import or its undo still changes by itself. */
export function isActive({ status, undo }: Pick<Import, 'status' | 'undo'>): boolean {
  return isRunning(status) || (undo !== null && isRunning(undo.status));
}

export function isRunning(status: string): boolean {
  return status === 'queued' || status === 'running';
}

/** doneOf returns the rows of an import that are worked through. */
export function doneOf(one: Import): number {
  return (
    one.rows_created + one.rows_updated + one.rows_unchanged + one.rows_failed + one.rows_blank + one.rows_repeated
  );
}

const units = ['bytes', 'kB', 'MB', 'GB'] as const;

/** formatBytes returns a size such as "1.2 MB". */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${size.toLocaleString('en', { maximumFractionDigits: unit === 0 || size >= 100 ? 0 : 1 })} ${units[unit]}`;
}
