import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fakeBrowser } from '../faketabs';
import { NetworkError, ProblemError } from '../problem';
import type { Grant } from './grant';
import type { SessionMessage } from './messages';
import { Refresher } from './refresher';
import { Session } from './session';

const life = 900_000;

/** A service with one refresh token at a time, as the cookie holds it. */
function fakeService() {
  const service = {
    exchanges: 0,
    inFlight: 0,
    signedIn: true,
    org: 'o1',
    user: 'u1',
    away: false,
    grant(): Grant {
      return {
        token: `t${++service.exchanges}`,
        expiresAt: Date.now() + life,
        user: { id: service.user, email: 'ada@example.com', first_name: 'Ada', last_name: 'L' },
        org: { id: service.org, name: service.org },
        role: 'admin',
      };
    },
    async exchange(): Promise<Grant | null> {
      if (++service.inFlight > 1) throw new Error('two exchanges at a time revoke the family');
      await Promise.resolve();
      service.inFlight--;
      if (service.away) throw new NetworkError(null);
      return service.signedIn ? service.grant() : null;
    },
  };
  return service;
}

type Service = ReturnType<typeof fakeService>;

function openTab(browser: ReturnType<typeof fakeBrowser>, service: Service): Session {
  const channel = browser.channel<SessionMessage>();
  const refresher = new Refresher({ locks: browser.locks, channel, exchange: service.exchange });
  return new Session({ refresher, channel, isVisible: () => true });
}

const problem = (code: 'session_ended' | 'invalid_token' | 'invalid_credentials') =>
  new ProblemError({ type: '', title: '', status: 401, detail: '', instance: '', code, request_id: '' });

const settle = () => vi.advanceTimersByTimeAsync(1);

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('without a cookie nobody is signed in', async () => {
  const service = fakeService();
  service.signedIn = false;
  const tab = openTab(fakeBrowser(), service);
  await tab.start();
  expect(tab.state.get().phase).toBe('out');
  expect(await tab.token(false)).toBeNull();
});

test('calls that need a token at the same time share one exchange', async () => {
  const service = fakeService();
  const tab = openTab(fakeBrowser(), service);
  const tokens = await Promise.all([tab.start().then(() => tab.token(false)), tab.token(false), tab.token(false)]);
  expect(tokens).toEqual(['t1', 't1', 't1']);
});

test('a second tab gets the token of the first and exchanges no cookie', async () => {
  const [service, browser] = [fakeService(), fakeBrowser()];
  const first = openTab(browser, service);
  await first.start();
  browser.tabs.count = 2;
  const second = openTab(browser, service);
  await second.start();
  expect(await second.token(false)).toBe('t1');
  expect(service.exchanges).toBe(1);
});

test('a tab whose neighbours do not answer exchanges the cookie itself', async () => {
  const [service, browser] = [fakeService(), fakeBrowser()];
  browser.tabs.count = 2;
  const tab = openTab(browser, service);
  const started = tab.start();
  await vi.advanceTimersByTimeAsync(300);
  await started;
  expect(service.exchanges).toBe(1);
});

test('two tabs over 720 refreshes use one exchange each time and stay signed in', async () => {
  const [service, browser] = [fakeService(), fakeBrowser()];
  const tabs = [openTab(browser, service), openTab(browser, service)];
  browser.tabs.count = 2;
  await Promise.all([...tabs.map((tab) => tab.start()), vi.advanceTimersByTimeAsync(1000)]);
  const before = service.exchanges;
  for (let i = 0; i < 720; i++) {
    await vi.advanceTimersByTimeAsync(life - 20_000); // the token is about to end
    await Promise.all([tabs[0]!.token(false), tabs[1]!.token(false), vi.advanceTimersByTimeAsync(500)]);
  }
  expect(tabs.map((tab) => tab.state.get().phase)).toEqual(['in', 'in']);
  expect(service.exchanges - before).toBeLessThanOrEqual(2 * 720);
});

test('the token is renewed before its end while the page is visible', async () => {
  const service = fakeService();
  const tab = openTab(fakeBrowser(), service);
  await tab.start();
  await vi.advanceTimersByTimeAsync(life - 60_000);
  expect(service.exchanges).toBe(2);
});

test('a refused token is replaced and the call is sent again', async () => {
  const service = fakeService();
  const tab = openTab(fakeBrowser(), service);
  await tab.start();
  expect(await tab.refused('t1', problem('invalid_token'))).toBe(true);
  expect(await tab.token(false)).toBe('t2');
});

test('wrong credentials are no reason to renew the token', async () => {
  const service = fakeService();
  const tab = openTab(fakeBrowser(), service);
  await tab.start();
  expect(await tab.refused('t1', problem('invalid_credentials'))).toBe(false);
  expect(service.exchanges).toBe(1);
});

test('an ended session is shown in all tabs, and their calls go on after one sign-in', async () => {
  const [service, browser] = [fakeService(), fakeBrowser()];
  const tabs = [openTab(browser, service), openTab(browser, service)];
  for (const tab of tabs) await tab.start();
  service.signedIn = false;
  const waiting = tabs[0]!.refused('t1', problem('session_ended'));
  await settle();
  expect(tabs.map((tab) => tab.state.get().phase)).toEqual(['ended', 'ended']);
  const other = tabs[1]!.token(false);
  tabs[1]!.adopt(service.grant());
  await settle();
  expect(await waiting).toBe(true);
  expect(await other).toBe('t2');
  expect(tabs.map((tab) => tab.state.get().phase)).toEqual(['in', 'in']);
});

test('another person who signs in does not get the calls that wait', async () => {
  const [service, browser] = [fakeService(), fakeBrowser()];
  const tabs = [openTab(browser, service), openTab(browser, service)];
  for (const tab of tabs) await tab.start();
  service.signedIn = false;
  const waiting = tabs[0]!.refused('t1', problem('session_ended'));
  await settle();
  service.user = 'u2';
  tabs[1]!.adopt(service.grant());
  await settle();
  expect(await waiting).toBe(false);
  expect(tabs[0]!.state.get().phase).toBe('moved');
});

test('a switch of the org is asked about in the other tab, and followed', async () => {
  const [service, browser] = [fakeService(), fakeBrowser()];
  const tabs = [openTab(browser, service), openTab(browser, service)];
  for (const tab of tabs) await tab.start();
  service.org = 'o2';
  tabs[0]!.adopt(service.grant());
  await settle();
  expect(tabs[1]!.state.get().phase).toBe('moved');
  expect(tabs[1]!.state.get().grant?.org.id).toBe('o1');
  tabs[1]!.follow();
  expect(tabs[1]!.state.get().grant?.org.id).toBe('o2');
});

test('signing out forgets the token in every tab', async () => {
  const [service, browser] = [fakeService(), fakeBrowser()];
  const tabs = [openTab(browser, service), openTab(browser, service)];
  const left = vi.fn();
  for (const tab of tabs) {
    await tab.start();
    tab.onSignedOut = left;
  }
  tabs[0]!.signedOut();
  await settle();
  expect(tabs.map((tab) => tab.state.get())).toEqual(
    Array(2).fill({ phase: 'out', grant: null, next: null, staff: null }),
  );
  expect(left).toHaveBeenCalledTimes(2);
});

test('a lost connection ends no session', async () => {
  const service = fakeService();
  const tab = openTab(fakeBrowser(), service);
  await tab.start();
  service.away = true;
  await vi.advanceTimersByTimeAsync(life);
  await expect(tab.token(false)).rejects.toBeInstanceOf(NetworkError);
  expect(tab.state.get().phase).toBe('in');
  service.away = false;
  expect(await tab.token(false)).toBe('t2');
});

test('a staff token is used until it ends, and is never renewed', async () => {
  const service = fakeService();
  const tab = openTab(fakeBrowser(), service);
  await tab.start();
  tab.act({
    token: 's1',
    expiresAt: Date.now() + life,
    org: { id: 'c1', name: 'Client' },
    role: 'admin',
    client: 'c1',
  });
  expect(await tab.token(false)).toBe('s1');
  expect(await tab.token(true)).toBe('t1');
  expect(await tab.refused('s1', problem('session_ended'))).toBe(false);
  expect(tab.state.get().staff?.expiresAt).toBe(0);
  expect(service.exchanges).toBe(1);
});
