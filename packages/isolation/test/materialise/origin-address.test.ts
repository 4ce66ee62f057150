import { describe, expect, test } from '@jest/globals';
import { publicAddress, rewrittenAddress } from '../../src/materialise/origin-address.ts';

describe('the origin of a clone', () => {
  test.each([
    ['https://github.com/o/r.git', 'https://github.com/o/r.git'],
    ['https://user:pass@github.com/o/r.git', 'https://github.com/o/r.git'],
    ['https://token@github.com/o/r', 'https://github.com/o/r'],
    ['https://us%40er:p%40ss@example.org:8443/o/r', 'https://example.org:8443/o/r'],
    ['https://a@b:c@example.org/r', 'https://example.org/r'],
    ['https://example.org/r.git?private_token=abc', 'https://example.org/r.git'],
    ['http://example.org/r#secret', 'http://example.org/r'],
    ['git@github.com:o/r.git', 'https://github.com/o/r.git'],
    ['git@GitHub.com:/o/r.git', 'https://github.com/o/r.git'],
    ['github.com:o/r', 'https://github.com/o/r'],
    ['ssh://git@github.com/o/r.git', 'https://github.com/o/r.git'],
    ['ssh://git@github.com:22/o/r.git', 'https://github.com/o/r.git'],
    ['ssh://git@ssh.github.com:443/o/r.git', 'https://github.com/o/r.git'],
    ['git+ssh://git@github.com/o/r', 'https://github.com/o/r'],
    ['git://github.com/o/r', 'https://github.com/o/r'],
    ['git@gitlab.example.org:group/r.git', 'git@gitlab.example.org:group/r.git'],
    ['ssh://me:secret@example.org/r', 'ssh://me@example.org/r'],
    ['ssh://example.org/r', 'ssh://example.org/r'],
    ['/srv/git/r.git', '/srv/git/r.git'],
    ['../r.git', '/home/me/r.git'],
    ['./sub dir/r', '/home/me/app/sub dir/r'],
    ['file:///srv/git/r.git', 'file:///srv/git/r.git'],
    ['[::1]:r.git', '[::1]:r.git'],
  ])('of %s is %s', (address, expected) => {
    expect(publicAddress(address, '/home/me/app')).toBe(expected);
  });

  test.each(['', 'ext::sh -c evil', '-oProxyCommand=evil', 'https://user:pa/ss@host/r', 'https://h/a\nb'])(
    'cannot be %j',
    (address) => {
      expect(publicAddress(address, '/home/me/app')).toBeNull();
    },
  );

  test("is rewritten by the longest of the operator's insteadOf settings", () => {
    const rules = [
      { base: 'git@github.com:', insteadOf: 'gh:' },
      { base: 'https://example.org/', insteadOf: 'gh:o/' },
    ];
    expect(rewrittenAddress('gh:o/r', rules)).toBe('https://example.org/r');
    expect(rewrittenAddress('gh:p/r', rules)).toBe('git@github.com:p/r');
    expect(rewrittenAddress('/srv/r', rules)).toBe('/srv/r');
  });
});
