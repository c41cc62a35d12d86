import type { Row } from '@/lib/read';

export type Account = Row<'/api/v1/social/accounts'>;
export type Platform = Account['platform'];

/** The platforms whose accounts are connected on this page. Mailboxes are connected on their own. */
export const social = [
  'facebook',
  'instagram',
  'linkedin',
  'linkedin_page',
  'x',
  'tiktok',
  'youtube',
  'pinterest',
] as const satisfies readonly Platform[];
export const ads = [
  'meta_ads',
  'google_ads',
  'linkedin_ads',
  'tiktok_ads',
  'pinterest_ads',
  'x_ads',
] as const satisfies readonly Platform[];

const order: readonly Platform[] = [...social, 'gmail', 'outlook', ...ads];

const names: Record<Platform, string> = {
  facebook: 'Facebook',
  instagram: 'Instagram',
  linkedin: 'LinkedIn',
  linkedin_page: 'LinkedIn page',
  x: 'X',
  tiktok: 'TikTok',
  youtube: 'YouTube',
  pinterest: 'Pinterest',
  gmail: 'Gmail',
  outlook: 'Outlook',
  meta_ads: 'Meta ads',
  google_ads: 'Google ads',
  linkedin_ads: 'LinkedIn ads',
  tiktok_ads: 'TikTok ads',
  pinterest_ads: 'Pinterest ads',
  x_ads: 'X ads',
};

export function platformName(platform: Platform): string {
  return names[platform];
}

/** isAds reports whether the platform's accounts are ad accounts, which have paths of their own. */
export function isAds(platform: Platform): boolean {
  return ads.some((one) => one === platform);
}

/** byPlatform groups accounts, in the order of the platforms. */
export function byPlatform<A extends { platform: Platform }>(
  accounts: readonly A[],
): { platform: Platform; accounts: readonly A[] }[] {
  return order
    .map((platform) => ({ platform, accounts: accounts.filter((one) => one.platform === platform) }))
    .filter((group) => group.accounts.length > 0);
}
