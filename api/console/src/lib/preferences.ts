import type { Api } from './api';
import type { Session } from './session/session';
import { createStore, type Store } from './store';

export type Theme = 'system' | 'light' | 'dark';

export interface PreferenceValues {
  theme: Theme;
  /** Single-letter keys act. */
  keys: boolean;
  /** The sidebar shows icons only. */
  collapsed: boolean;
}

export interface Preferences extends Pick<Store<PreferenceValues>, 'get' | 'subscribe'> {
  change(change: Partial<PreferenceValues>): void;
  /** Reads what is stored for the user, so that another browser shows the same. */
  load(): Promise<void>;
}

const defaults: PreferenceValues = { theme: 'system', keys: true, collapsed: false };
const storageKey = 'funnelwork.preferences';
const themeKey = 'theme'; // boot.ts reads it before the first paint
const saveDelay = 1000;

/**
 * createPreferences keeps the preferences in localStorage, where the next page finds them before it paints, and in the
 * view "preferences" of the user. They are no secret, and losing them does no harm: failures to save are ignored.
 */
export function createPreferences(
  api: Api,
  session: Session,
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>,
): Preferences {
  const store = createStore<PreferenceValues>({ ...defaults, ...valid(parse(storage.getItem(storageKey))) });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const apply = (values: PreferenceValues) => {
    store.set(values);
    storage.setItem(storageKey, JSON.stringify(values));
    if (values.theme === 'system') storage.removeItem(themeKey);
    else storage.setItem(themeKey, values.theme);
  };
  const save = () => {
    if (session.state.get().phase !== 'in') return;
    api
      .put('/api/v1/views/{key}', { credential: 'own', path: { key: 'preferences' }, body: { ...store.get() } })
      .catch(() => {});
  };
  return {
    get: store.get,
    subscribe: store.subscribe,
    change(change) {
      apply({ ...store.get(), ...change });
      clearTimeout(timer);
      timer = setTimeout(save, saveDelay);
    },
    async load() {
      const { data } = await api.get('/api/v1/views', { credential: 'own' });
      const stored = data.data.find((view) => view.key === 'preferences');
      if (stored !== undefined) apply({ ...store.get(), ...valid(stored.value) });
    },
  };
}

function parse(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/** valid returns the preferences that value has, whatever else it holds. */
function valid(value: unknown): Partial<PreferenceValues> {
  if (typeof value !== 'object' || value === null) return {};
  const found = value as Partial<Record<keyof PreferenceValues, unknown>>;
  const out: Partial<PreferenceValues> = {};
  if (found.theme === 'system' || found.theme === 'light' || found.theme === 'dark') out.theme = found.theme;
  if (typeof found.keys === 'boolean') out.keys = found.keys;
  if (typeof found.collapsed === 'boolean') out.collapsed = found.collapsed;
  return out;
}
