import { useRouter } from '@tanstack/react-router';
import { useServices } from '@/lib/services';
import { type Command, useCommands } from './commands';
import type { Place } from './nav';

/** useShellCommands makes the commands available that every page has. */
export function useShellCommands(shell: {
  nav: readonly Place[];
  openPalette: () => void;
  openKeys: () => void;
}): void {
  const router = useRouter();
  const { preferences, actions } = useServices();
  const places = shell.nav.map((place): Command => ({
    id: `go:${place.to}`,
    label: place.label,
    group: 'Go to',
    icon: place.icon,
    ...(place.keys !== undefined && { keys: place.keys }),
    run: () => void router.navigate({ to: place.to }),
  }));
  const theme = (value: 'system' | 'light' | 'dark', label: string): Command => ({
    id: `theme:${value}`,
    label,
    group: 'Settings',
    icon: value === 'system' ? 'monitor' : value === 'light' ? 'sun' : 'moon',
    words: 'theme appearance colour',
    run: () => preferences.change({ theme: value }),
  });
  useCommands([
    { id: 'palette', label: 'Search and run a command', keys: 'mod k', keyOnly: true, run: shell.openPalette },
    { id: 'search', label: 'Search', keys: '/', keyOnly: true, run: () => focusSearch() || shell.openPalette() },
    { id: 'keys', label: 'Show all keys', keys: '?', group: 'Settings', icon: 'help', run: shell.openKeys },
    {
      id: 'sidebar',
      label: 'Fold or unfold the sidebar',
      keys: '[',
      group: 'Settings',
      icon: 'sidebar',
      run: () => preferences.change({ collapsed: !preferences.get().collapsed }),
    },
    ...places,
    theme('light', 'Use the light theme'),
    theme('dark', 'Use the dark theme'),
    theme('system', 'Use the theme of the system'),
    {
      id: 'sign-out',
      label: 'Sign out',
      group: 'Settings',
      icon: 'signout',
      words: 'log out',
      run: () => void actions.signOut().catch(() => {}),
    },
  ]);
}

/** Focuses the search field of the page, if there is one. */
function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('#main input[type=search]');
  field?.focus();
  field?.select();
  return field !== null;
}
