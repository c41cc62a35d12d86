import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type HTMLAttributes, type ReactElement, useState } from 'react';
import { describe } from '@/lib/describe';
import { messages } from '@/lib/messages';
import { useScope } from '@/lib/scope';
import type { Theme } from '@/lib/preferences';
import { useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import { Menu, type MenuEntry } from '@/ui/menu';
import { toast } from '@/ui/toast';
import { commands } from './commands';

const t = messages({
  orgs: 'Organizations',
  theme: 'Theme',
  system: 'System',
  light: 'Light',
  dark: 'Dark',
  keys: 'Keys',
  help: 'Guides',
  signOut: 'Sign out',
  switchFailed: 'Could not switch the organization',
  signOutFailed: 'Could not sign out',
});

const themes: readonly [Theme, 'monitor' | 'sun' | 'moon'][] = [
  ['system', 'monitor'],
  ['light', 'sun'],
  ['dark', 'moon'],
];

/** PersonItems is the menu of the person, open at first: switches orgs, chooses the theme, signs out. */
export function PersonItems({ trigger }: { trigger: ReactElement<HTMLAttributes<Element>> }) {
  const { api, session, actions, preferences } = useServices();
  const { org, staff } = useScope();
  const { grant } = useStore(session.state);
  const { theme } = useStore(preferences);
  const [open, setOpen] = useState(true);
  const navigate = useNavigate();
  const orgs = useQuery({
    queryKey: ['/api/v1/auth/orgs', 'own'],
    queryFn: ({ signal }) => api.get('/api/v1/auth/orgs', { credential: 'own', query: { limit: 200 }, signal }),
    enabled: open,
  });
  if (grant === null) return null;
  const { user } = grant;

  const turnTo = async (id: string) => {
    try {
      await actions.switchOrg(id);
      await navigate({ to: '/app' });
    } catch (error) {
      toast({ kind: 'bad', title: t('switchFailed'), detail: describe(error)?.detail ?? '' });
    }
  };
  const signOut = async () => {
    try {
      await actions.signOut();
    } catch (error) {
      toast({ kind: 'bad', title: t('signOutFailed'), detail: describe(error)?.detail ?? '' });
    }
  };
  const others = orgs.data?.data.data ?? [];
  const items: MenuEntry[] = [
    user.email,
    ...(others.length > 1
      ? [
          null,
          t('orgs'),
          ...others.map((other) => ({
            label: other.name,
            checked: !staff && other.id === org.id,
            onSelect: () => void (other.id === org.id && !staff ? undefined : turnTo(other.id)),
          })),
        ]
      : []),
    null,
    t('theme'),
    ...themes.map(([value, icon]) => ({
      label: t(value),
      icon,
      checked: theme === value,
      onSelect: () => preferences.change({ theme: value }),
    })),
    null,
    {
      label: t('keys'),
      icon: 'help' as const,
      keys: '?',
      onSelect: () =>
        commands
          .get()
          .find((c) => c.id === 'keys')
          ?.run(),
    },
    { label: t('help'), icon: 'external' as const, onSelect: () => window.open('/docs/guides/', '_blank', 'noopener') },
    null,
    { label: t('signOut'), icon: 'signout' as const, onSelect: () => void signOut() },
  ];
  return <Menu side="top" open={open} onOpenChange={setOpen} items={items} trigger={trigger} />;
}
