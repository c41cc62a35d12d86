import { messages } from '@/lib/messages';

export const t = messages({
  title: 'Audit log',
  action: 'Action',
  actor: 'Actor',
  target: 'Target',
  time: 'Time',
  anyAction: 'Any action',
  anyActor: 'Anybody',
  anyTime: 'Any time',
  day: 'Last 24 hours',
  week: 'Last 7 days',
  month: 'Last 30 days',
  range: 'Between two days',
  from: 'From',
  to: 'To',
  clear: 'Clear filters',
  system: 'System',
  formerUser: 'Former member',
  formerKey: 'Removed API key',
  key: 'API key {name}',
  when: 'When',
  request: 'Request',
  detail: 'Detail',
  noDetail: 'Nothing more is recorded.',
  byActor: 'Only by this actor',
  byTarget: 'Only this target',
  onTarget: 'One target only',
  emptyTitle: 'Nothing has happened yet',
  empty: 'Changes to members, keys, roles, secrets, plans and client organizations, exports and purges appear here. Nobody can edit them.',
  guide: 'Members and sessions',
  noneTitle: 'No entry matches',
  none: 'Nothing was recorded that has all of these filters.',
});

const actions: Readonly<Record<string, string>> = {
  'api_key.created': 'API key created',
  'api_key.kept': 'API key kept',
  'api_key.revoked': 'API key removed',
  'billing.overage_synced': 'Overage billed',
  'billing.repaired': 'Billing reconciled',
  'brand.updated': 'Brand changed',
  'client_org.created': 'Client organization created',
  'client_org.entered': 'Client organization entered',
  'contact.data_exported': 'Data of a contact exported',
  'contact.purged': 'Contact purged',
  'contacts.exported': 'Contacts exported',
  'domain.claimed': 'Domain claimed',
  'domain.removed': 'Domain removed',
  'member.added': 'Member added',
  'member.invitation_revoked': 'Invitation withdrawn',
  'member.invited': 'Member invited',
  'member.joined': 'Invitation accepted',
  'member.removed': 'Member removed',
  'member.role_changed': 'Role changed',
  'organization.created': 'Organization created',
  'organization.demo_filled': 'Demo data added',
  'organization.detached': 'Organization detached',
  'organization.updated': 'Organization changed',
  'plan.addon_added': 'Add-on added',
  'plan.addon_ended': 'Add-on ended',
  'plan.change_requested': 'Plan change requested',
  'plan.change_undone': 'Plan change undone',
  'plan.changed': 'Plan changed',
  'plan.overridden': 'Limit overridden',
  'plan.override_ended': 'Override ended',
  'score_model.rolled_back': 'Score model rolled back',
  'session.ended': 'Session ended',
  'session.reuse_detected': 'Reused session token detected',
  'social_account.disconnected': 'Account disconnected',
  'social_account.reauth_required': 'Account needs a new login',
  'staff.acted': 'Agency staff acted',
  'staff.entered': 'Agency staff entered',
  'user.password_changed': 'Password changed',
  'user.password_reset': 'Password reset',
  'webhook.secret_rotated': 'Webhook secret rotated',
};

/** actionName returns an action in words. Actions may be newer than this page: their key is then made readable. */
export function actionName(action: string): string {
  const text = action.replaceAll(/[._]/g, ' ');
  return actions[action] ?? text.charAt(0).toUpperCase() + text.slice(1);
}

/** The actions that can be chosen as a filter. */
export const knownActions = Object.entries(actions).map(([value, label]) => ({ value, label }));

const targets: Readonly<Record<string, string>> = {
  api_key: 'API key',
  organization: 'Organization',
  member: 'Member',
  user: 'Person',
  session: 'Session',
  webhook: 'Webhook',
  client_org: 'Client organization',
  contact: 'Contact',
  contact_export: 'Export',
  plan: 'Plan',
};

export function targetName(type: string): string {
  const text = type.replaceAll('_', ' ');
  return targets[type] ?? text.charAt(0).toUpperCase() + text.slice(1);
}
