import { createContext, useContext } from 'react';
import { type Api, createApi } from './api';
import { openChannel } from './channel';
import { browserLocks, type Locks } from './locks';
import { createPreferences, type Preferences } from './preferences';
import { type Connection, createConnection } from './reachability';
import { exchangeCookie, type SessionActions, sessionActions } from './session/actions';
import type { SessionMessage } from './session/messages';
import { Refresher } from './session/refresher';
import { Session } from './session/session';
import { browserStorage } from './storage';
import { wait } from './wait';

/** What a tab has once, whoever is signed in. */
export interface Services {
  api: Api;
  session: Session;
  actions: SessionActions;
  connection: Connection;
  locks: Locks;
  preferences: Preferences;
}

export function createServices(): Services {
  const storage = browserStorage();
  const locks = browserLocks(storage);
  const channel = openChannel<SessionMessage>('funnelwork.session');
  // Any response shows that the server is reached; the shell is the cheapest.
  const connection = createConnection(() => fetch('/app/', { method: 'HEAD', cache: 'no-store' }));
  const refresher = new Refresher({ locks, channel, exchange: exchangeCookie(() => api, isPublicPage, storage) });
  const session = new Session({ refresher, channel, isVisible: () => document.visibilityState === 'visible' });
  const api = createApi({
    fetch: (...request) => fetch(...request),
    credentials: session,
    reachability: connection,
    wait,
  });
  const actions = sessionActions(api, session, refresher, storage);
  return { api, session, actions, connection, locks, preferences: createPreferences(api, session, storage) };
}

/** isPublicPage reports whether the page is a sign-in page, outside /app. */
const isPublicPage = () => !/^\/app(\/|$)/.test(window.location.pathname);

export const ServicesContext = createContext<Services | null>(null);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error('no ServicesContext');
  return services;
}

export function useApi(): Api {
  return useServices().api;
}
