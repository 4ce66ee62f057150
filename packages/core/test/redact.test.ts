import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { JackinError, redact, redactDeep, registerSecret, toJackinError } from '../src/index.ts';

const MASK = '[redacted]';
/** What of the original text is left: the pieces around the masks. */
const leftovers = (text: string) => text.split(MASK);

describe('redact', () => {
  test('no text ever keeps a registered secret, whatever surrounds or overlaps it', () => {
    const secret = fc
      .string({ unit: 'binary', minLength: 4, maxLength: 40 })
      .filter((s) => s.trim().length >= 4);
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(fc.string(), fc.nat(3), fc.nat(3)), { minLength: 1, maxLength: 6 }),
        (secrets, parts) => {
          for (const value of secrets) registerSecret(value);
          const text = parts
            .map(([noise, which, cut]) => noise + (secrets[which % secrets.length] ?? '').slice(cut))
            .concat(secrets)
            .join('');
          for (const piece of leftovers(redact(text))) {
            for (const value of secrets) expect(piece).not.toContain(value);
          }
        },
      ),
    );
  });

  test('two overlapping secrets are masked together, so neither keeps a tail', () => {
    registerSecret('overlap-left');
    registerSecret('left-and-right');
    expect(redact('x overlap-left-and-right y')).toBe(`x ${MASK} y`);
  });

  test('a secret is masked in the forms it takes in JSON, a URL and base64', () => {
    const value = 'pa"ss\\wörd/?&=';
    registerSecret(value);
    for (const form of [
      JSON.stringify(value),
      `https://host/?token=${encodeURIComponent(value)}`,
      Buffer.from(value).toString('base64'),
    ]) {
      expect(redact(form)).toContain(MASK);
      expect(redact(form)).not.toContain('ss\\');
      expect(redact(form)).not.toContain('rd%2F');
    }
  });

  test('each long line of a secret with several lines is masked on its own', () => {
    registerSecret('-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nshort\n-----END KEY-----\n');
    expect(redact('stderr: MIIEvQIBADANBgkqhkiG!')).toBe(`stderr: ${MASK}!`);
    expect(redact('this is short')).toBe('this is short');
  });

  test('values shorter than four characters are not secrets', () => {
    registerSecret('abc');
    registerSecret('  a  ');
    expect(redact('abc a')).toBe('abc a');
  });

  test.each([
    ['https://user:p@ss@example.com/x', `https://${MASK}@example.com/x`],
    ['git+ssh://token@host/repo', `git+ssh://${MASK}@host/repo`],
    ['see https://example.com/a@b', 'see https://example.com/a@b'],
    ['Authorization: Bearer abc.def', `Authorization: ${MASK}`],
    ['{"authorization":"Basic dXNlcg=="}', `{"authorization":"${MASK}"}`],
    ['x-api-key=k123456', `x-api-key=${MASK}`],
    ['sent bearer abcdefgh12345 twice', `sent bearer ${MASK} twice`],
    ['the bearer of news', 'the bearer of news'],
  ])('credentials that nobody registered are masked in %j', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});

describe('JackinError', () => {
  test('message, hint and details of an error never hold a secret', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9"\\ü\n/+=]{10,40}$/), (value) => {
        fc.pre(value.trim().length >= 10);
        registerSecret(value);
        const error = new JackinError({
          code: 'X',
          message: `bad ${value}`,
          hint: `try ${value} again`,
          details: { [value]: [{ deep: `${value}${value}` }] },
        });
        for (const piece of leftovers(`${JSON.stringify(error)}${error.message}${error.stack}`)) {
          expect(piece).not.toContain(value.trim());
          expect(piece).not.toContain(JSON.stringify(value.trim()).slice(1, -1));
        }
      }),
    );
  });

  test('details with a cycle, a date and a bigint-free class stay printable', () => {
    const cycle: Record<string, unknown> = { at: new Date(0) };
    cycle.self = cycle;
    const shared = { a: 1 };
    expect(redactDeep({ cycle, twice: [shared, shared] })).toEqual({
      cycle: { at: '1970-01-01T00:00:00.000Z', self: '[circular]' },
      twice: [{ a: 1 }, { a: 1 }],
    });
  });

  test('what is not ours becomes INTERNAL with its cause, what is ours stays the same object', () => {
    const own = new JackinError({ code: 'MINE', message: 'm' });
    expect(toJackinError(own)).toBe(own);
    const cause = new TypeError('boom');
    expect(toJackinError(cause)).toMatchObject({ code: 'INTERNAL', cause, exitCode: 1 });
    expect(toJackinError('text').message).toContain('text');
  });
});
