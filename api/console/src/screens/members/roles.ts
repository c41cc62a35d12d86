import type { RadioCard } from '@/ui/choice';
import type { Member } from './members';
import { t } from './messages';

/** useRoles returns the roles that may be given, each with what it permits. Only owners make owners. */
export function useRoles(isOwner: boolean): RadioCard<Member['role']>[] {
  return [
    { value: 'viewer', label: t('viewer'), help: t('viewerHelp') },
    { value: 'member', label: t('member'), help: t('memberHelp') },
    { value: 'admin', label: t('admin'), help: t('adminHelp') },
    ...(isOwner ? [{ value: 'owner' as const, label: t('owner'), help: t('ownerHelp') }] : []),
  ];
}
