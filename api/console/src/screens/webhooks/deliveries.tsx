import { useNavigate, useSearch } from '@tanstack/react-router';
import { PageHead } from '@/ui/page';
import { t } from './messages';
import { DeliveryTable } from './table';

/** Deliveries lists the deliveries of all webhooks. */
export function Deliveries() {
  const filter = useSearch({ from: '/app/settings/integrations/deliveries' });
  const navigate = useNavigate();
  return (
    <>
      <PageHead title={t('deliveries')} />
      <DeliveryTable
        filter={filter}
        onFilter={(search) => void navigate({ to: '/app/settings/integrations/deliveries', search, replace: true })}
      />
    </>
  );
}
