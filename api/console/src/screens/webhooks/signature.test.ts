import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkSignature } from './signature';

const secret = `whsec_${Buffer.from('0123456789abcdefghijklmn').toString('base64')}`;
const body = '{"id":"e1","data":{"name":"Zoë","n":1.0}}';
const at = 1_795_415_422;

function headers(key: string): Record<string, string> {
  const standardKey = key.startsWith('whsec_') ? Buffer.from(key.slice(6), 'base64') : key;
  const mac = createHmac('sha256', standardKey).update(`e1.${at}.${body}`).digest('base64');
  return {
    'Webhook-Id': 'e1',
    'Webhook-Timestamp': String(at),
    'Webhook-Signature': `v1,${mac}`,
    'X-Service-Signature': createHmac('sha256', key).update(body).digest('hex'),
  };
}

test('both signatures of a generated and of a chosen secret are valid', async () => {
  for (const key of [secret, 'a secret of my own ü']) {
    expect(await checkSignature(key, headers(key), body, (at + 60) * 1000)).toEqual({
      service: true,
      standard: true,
      age: 60,
    });
  }
});

test('another secret and a changed body are refused', async () => {
  const refused = { service: false, standard: false };
  expect(await checkSignature('another secret', headers(secret), body)).toMatchObject(refused);
  expect(await checkSignature(secret, headers(secret), `${body} `)).toMatchObject(refused);
  expect(await checkSignature('', headers(secret), body)).toMatchObject(refused);
});

test('a changed time is refused by the Standard Webhooks signature alone', async () => {
  const changed = { ...headers(secret), 'Webhook-Timestamp': String(at + 1) };
  expect(await checkSignature(secret, changed, body)).toMatchObject({ service: true, standard: false });
});

test('one of two signatures of a rotated secret is enough', async () => {
  const [now, before] = [headers(secret), headers('the previous secret')];
  const both = {
    ...now,
    'X-Service-Signature': `${now['X-Service-Signature']}, ${before['X-Service-Signature']}`,
    'Webhook-Signature': `${now['Webhook-Signature']} ${before['Webhook-Signature']}`,
  };
  for (const key of [secret, 'the previous secret']) {
    expect(await checkSignature(key, both, body)).toMatchObject({ service: true, standard: true });
  }
});

test('an absent header has no verdict, and a whsec_ secret that is not base64 does not verify', async () => {
  expect(await checkSignature(secret, {}, body)).toEqual({ service: null, standard: null, age: null });
  expect(await checkSignature('whsec_%%%', headers(secret), body)).toMatchObject({ standard: false });
});
