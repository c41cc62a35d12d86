import { expect, test } from 'vitest';
import { addVariant } from '../mail/variants';
import {
  daysOf,
  insertStep,
  kinds,
  moveStep,
  newStep,
  problemsOf,
  removeStep,
  toInput,
  type Step,
} from './steps';

function built(): Step[] {
  let steps: Step[] = [];
  for (const kind of kinds) steps = insertStep(steps, newStep(kind, steps, steps.length), steps.length);
  return steps;
}

test('each kind of step is made with what it needs, under a key of its own', () => {
  const steps = built();
  expect(new Set(steps.map((step) => step.key)).size).toBe(kinds.length);
  for (const step of steps) {
    expect(step.key).toMatch(/^[a-z0-9_-]{1,40}$/);
    if (step.kind !== 'wait') expect(step[step.kind]).toBeDefined();
  }
});

test('the first email begins a thread and the second is a reply some days later', () => {
  const first = newStep('email', [], 0);
  const second = newStep('email', [first], 1);
  expect([first.email?.thread, second.email?.thread]).toEqual(['new', 'reply']);
  expect([first.delay.value, second.delay]).toEqual([0, { value: 3, unit: 'business_days' }]);
  expect(first.email?.text).toContain('{{ unsubscribe_url }}');
});

test('a step is moved within the list only', () => {
  const steps = built();
  expect(moveStep(steps, 0, 2).map((step) => step.kind)).toEqual([
    'wait',
    'task',
    'email',
    'condition',
    'update',
    'webhook',
  ]);
  expect([moveStep(steps, 0, -1), moveStep(steps, 5, 6), moveStep(steps, 9, 0)]).toEqual([steps, steps, steps]);
});

test('a branch to a removed step goes on with the next one', () => {
  const steps = built();
  const target = steps[5]!.key;
  const pointed = steps.map((step) =>
    step.condition === undefined ? step : { ...step, condition: { ...step.condition, then: target, else: 'end' } },
  );
  expect(removeStep(pointed, target)[3]?.condition).toMatchObject({ then: '', else: 'end' });
});

test('what is empty is not sent', () => {
  const [email, , , condition] = built();
  expect(toInput(email!).email).not.toHaveProperty('html');
  expect(toInput(condition!).condition).toMatchObject({ then: null, else: null });
});

test('variants are sent with what ends their comparison', () => {
  const mail = { html: '', subject: 'Hello', text: 'Text', thread: 'new' as const, auto: true, variants: [] };
  const two = addVariant(mail);
  expect(toInput({ ...newStep('email', [], 0), email: two }).email).toMatchObject({
    auto: true,
    variants: [{ key: 'a' }, { key: 'b' }],
  });
});

test('a problem is shown at the step that its pointer names', () => {
  const found = problemsOf({
    errors: [
      { pointer: '/steps/1/email/subject', code: 'required', detail: 'No subject.' },
      { pointer: '#/steps/1', code: 'x', detail: 'Two.' },
      { pointer: '/mailbox_ids/0', code: 'mailbox_not_active', detail: 'Not active.' },
    ],
  });
  expect(found.steps.get(1)).toEqual([
    { pointer: '/email/subject', detail: 'No subject.' },
    { pointer: '', detail: 'Two.' },
  ]);
  expect(found.rest).toEqual(['Not active.']);
});

test('days add up from the delays', () => {
  const at = (value: number, unit: Step['delay']['unit']): Step => ({ ...newStep('wait', [], 0), delay: { value, unit } });
  expect(daysOf([at(0, 'days'), at(36, 'hours'), at(12, 'hours'), at(3, 'business_days')])).toEqual([1, 2, 3, 6]);
});
