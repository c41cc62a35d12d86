import { useState } from 'react';
import { isPlanNeeded, showPlanNeeded } from '@/lib/planneeded';
import { useApi } from '@/lib/services';
import { report } from '../record/report';
import { t } from './messages';
import { isAds, platformName, type Platform } from './platforms';

/** useConnect returns a function that leads to a platform's login, which comes back to this page. */
export function useConnect() {
  const api = useApi();
  const [busy, setBusy] = useState(false);
  const connect = async (platform: Platform, account?: string) => {
    setBusy(true);
    try {
      const body = {
        redirect_url: `${window.location.origin}/app/accounts`,
        ...(account !== undefined && { account_id: account }),
      };
      const path = { platform };
      const { data } = isAds(platform)
        ? await api.post('/api/v1/ads/{platform}/connect', { path, body })
        : await api.post('/api/v1/social/{platform}/connect', { path, body });
      window.location.assign(data.authorize_url);
    } catch (error) {
      if (isPlanNeeded(error)) showPlanNeeded(error);
      else report(t('notStarted', { platform: platformName(platform) }), error);
      setBusy(false);
    }
  };
  return { connect, busy };
}
