import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { t } from './messages';
import { DeliveryTable } from './table';
import { TestDialog } from './test';
import { WebhookFrame } from './frame';

/** Webhook is the page of one webhook: its state, and its deliveries as they happen. */
export function Webhook() {
  const { id } = useParams({ from: '/app/settings/integrations/webhooks/$id' });
  const filter = useSearch({ from: '/app/settings/integrations/webhooks/$id' });
  const navigate = useNavigate();
  const [testing, setTesting] = useState(false);
  return (
    <WebhookFrame id={id} section={t('deliveries')}>
      {(hook) => (
        <>
          <DeliveryTable
            webhook={id}
            filter={filter}
            onFilter={(search) =>
              void navigate({ to: '/app/settings/integrations/webhooks/$id', params: { id }, search, replace: true })
            }
            onTest={() => setTesting(true)}
          />
          {testing && <TestDialog hook={hook} onClose={() => setTesting(false)} />}
        </>
      )}
    </WebhookFrame>
  );
}
