import type { Result } from '@/lib/operations';
import type { Tone } from '@/ui/status';

export type Settings = Result<'get', '/api/v1/org/sending'>;
export type Domain = Settings['domains'][number];
export type DnsRecord = Domain['records'][number];

export const domainTones: Readonly<Record<Domain['status'], Tone>> = {
  pending: 'warn',
  verified: 'good',
  failed: 'bad',
};

export const trackingTones: Readonly<Record<NonNullable<Settings['tracking_domain_status']>, Tone>> = {
  pending_dns: 'warn',
  verified: 'good',
  active: 'good',
  degraded: 'bad',
  suspended: 'bad',
};

/** countriesOf returns the country codes that a person typed. */
export function countriesOf(text: string): string[] {
  return text
    .toUpperCase()
    .split(/[\s,;]+/)
    .filter((one) => one !== '');
}
