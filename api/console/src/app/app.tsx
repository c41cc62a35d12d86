import { RouterProvider } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isTransient } from '@/lib/session/actions';
import { createServices, ServicesContext } from '@/lib/services';
import { backoff } from '@/lib/retry';
import { wait } from '@/lib/wait';
import { router } from './router';

const services = createServices();
window.addEventListener('vite:preloadError', reloadOnce);

export function App() {
  useEffect(() => void start(), []);
  return (
    <ServicesContext value={services}>
      <RouterProvider router={router} />
    </ServicesContext>
  );
}

/**
 * Loads the page again if a part of it is gone, as after an upgrade of the server: once in ten seconds, so that a part
 * that is missing for good does not reload for ever.
 */
function reloadOnce(): void {
  const key = 'funnelwork.reloaded';
  if (Date.now() - Number(sessionStorage.getItem(key)) < 10_000) return;
  sessionStorage.setItem(key, String(Date.now()));
  window.location.reload();
}

/** Finds out who is signed in, however long the server is away. */
async function start(): Promise<void> {
  services.session.onSignedOut = () => window.location.replace('/login'); // a new page holds nothing of the old one
  for (let attempt = 0; ; attempt++) {
    try {
      return await services.session.start();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await wait(backoff(attempt));
    }
  }
}
