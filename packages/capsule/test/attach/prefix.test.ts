import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createPrefixParser, parsePrefix } from '../../src/attach/prefix.ts';

const PREFIX = '\u0002';
const PASTE = '\u001b[200~';
const PASTE_END = '\u001b[201~';

/** Everything that came out, per call, and whether it detached. */
function feed(chunks: string[], prefix = 'C-b'): { forwarded: string[]; detached: boolean } {
  const parser = createPrefixParser(parsePrefix(prefix));
  const results = chunks.map((chunk) => parser.push(Buffer.from(chunk, 'latin1')));
  return {
    forwarded: results.map(({ forward }) => Buffer.from(forward).toString('latin1')),
    detached: results.some(({ detach }) => detach),
  };
}

const whole = (input: string, prefix?: string) => {
  const { forwarded, detached } = feed([input], prefix);
  return { forwarded: forwarded.join(''), detached };
};

describe('the name of the prefix key', () => {
  test.each([
    ['C-b', 0x02],
    ['C-a', 0x01],
    ['C-B', 0x02],
    ['c-b', 0x02],
    ['C-\\', 0x1c],
    ['C-]', 0x1d],
    ['C-^', 0x1e],
    ['C-_', 0x1f],
    ['C-@', 0x00],
    ['C-Space', 0x00],
  ])('%s is the byte %d', (name, byte) => {
    expect(parsePrefix(name).byte).toBe(byte);
  });

  test.each(['', 'b', 'C-', 'C-bb', 'M-b', 'C-1', 'C-[', 'C-m', 'C-i', 'C-j', 'C-é', '^B', 'C-b '])(
    "'%s' is refused by name",
    (name) => {
      expect(() => parsePrefix(name)).toThrow(
        expect.objectContaining({ code: 'PREFIX_INVALID', message: expect.stringContaining(`'${name}'`) }),
      );
    },
  );
});

describe('the prefix key', () => {
  test('followed by d detaches and neither byte is passed on', () => {
    expect(whole(`ls${PREFIX}d`)).toEqual({ forwarded: 'ls', detached: true });
  });

  test('drops what follows the detach, also in later calls', () => {
    expect(feed([`a${PREFIX}drm -rf`, 'more'])).toEqual({ forwarded: ['a', ''], detached: true });
  });

  test('pressed twice is one literal prefix', () => {
    expect(whole(`${PREFIX}${PREFIX}d`)).toEqual({ forwarded: `${PREFIX}d`, detached: false });
  });

  test('followed by another key passes both on', () => {
    expect(whole(`${PREFIX}x${PREFIX}D`)).toEqual({ forwarded: `${PREFIX}x${PREFIX}D`, detached: false });
  });

  test('is held until the next byte, and everything else goes on at once', () => {
    expect(feed(['a\u0002', 'b', '\u001b', '[', '2', '0', '0'])).toEqual({
      forwarded: ['a', '\u0002b', '\u001b', '[', '2', '0', '0'],
      detached: false,
    });
  });

  test('held when an arrow key follows comes out before it', () => {
    expect(feed([PREFIX, '\u001b', '[A', 'd']).forwarded).toEqual(['', `${PREFIX}\u001b`, '[A', 'd']);
  });

  test('can be another key, and Ctrl-B is then an ordinary byte', () => {
    expect(whole(`${PREFIX}d\u001cd`, 'C-\\')).toEqual({ forwarded: `${PREFIX}d`, detached: true });
  });

  test('works after Escape was pressed', () => {
    expect(whole(`\u001b${PREFIX}d`)).toEqual({ forwarded: '\u001b', detached: true });
  });
});

describe('a bracketed paste', () => {
  test('holds no keys, and the prefix works again after it', () => {
    const pasted = `${PASTE}a${PREFIX}d${PREFIX}${PREFIX}${PASTE_END}`;
    expect(whole(`${pasted}${PREFIX}d`)).toEqual({ forwarded: pasted, detached: true });
  });

  test('is recognised with its markers cut at every place', () => {
    const input = `${PASTE}${PREFIX}d${PASTE_END}x`;
    for (let at = 1; at < input.length; at++) {
      expect(feed([input.slice(0, at), input.slice(at)])).toEqual({
        forwarded: [input.slice(0, at), input.slice(at)],
        detached: false,
      });
    }
  });

  test('is not ended by another sequence or half a marker in it', () => {
    const pasted = `${PASTE}\u001b[20\u001b[200~\u001b[2;201~\u001b[201\u0002d`;
    expect(whole(pasted)).toEqual({ forwarded: pasted, detached: false });
  });

  test('that the prefix precedes still is one', () => {
    const input = `${PREFIX}${PASTE}${PREFIX}d${PASTE_END}`;
    expect(whole(input)).toEqual({ forwarded: input, detached: false });
  });
});

describe('a keyboard switched to escape codes', () => {
  const KITTY_PREFIX = '\u001b[98;5u';

  test.each([
    ['kitty', `${KITTY_PREFIX}d`, KITTY_PREFIX],
    ['kitty with num lock', '\u001b[98;133ud', '\u001b[98;133u'],
    [
      'kitty with press events',
      '\u001b[98;5:1u\u001b[98;5:3u\u001b[57442;1:3ud',
      '\u001b[98;5:1u\u001b[98;5:3u\u001b[57442;1:3u',
    ],
    ['kitty with every key encoded', `${KITTY_PREFIX}\u001b[100u`, `${KITTY_PREFIX}\u001b[100u`],
    ['modifyOtherKeys', '\u001b[27;5;98~d', '\u001b[27;5;98~'],
  ])('detaches (%s)', (_name, input, forwarded) => {
    expect(whole(input)).toEqual({ forwarded, detached: true });
  });

  test.each([
    ['Alt-B', '\u001b[98;3ud'],
    ['Ctrl-Shift-B', '\u001b[98;6ud'],
    ['Ctrl-C', '\u001b[99;5ud'],
    ['its release alone', '\u001b[98;5:3ud'],
    ['the prefix twice', `${KITTY_PREFIX}${KITTY_PREFIX}d`],
    ['an arrow key in between', `${KITTY_PREFIX}\u001b[Ad`],
    ['Escape in between', `${KITTY_PREFIX}\u001bxd`],
    ['a paste in between', `${KITTY_PREFIX}${PASTE}d${PASTE_END}d`],
    ['inside a paste', `${PASTE}${KITTY_PREFIX}d${PASTE_END}`],
    ['parameters without a key', '\u001b[;5ud\u001b[ud\u001b[27;5~d'],
  ])('is not confused by %s', (_name, input) => {
    expect(whole(input)).toEqual({ forwarded: input, detached: false });
  });
});

describe('however the input is cut', () => {
  const token = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom(PREFIX, 'd', PASTE, PASTE_END, '\u001b', '\u001b[98;5u', '\u001b[100u'),
    },
    { weight: 1, arbitrary: fc.constantFrom('[', '2', '0', '1', '~', ';', 'u', '\u001b[', '\u001b[20') },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    },
  );
  const input = fc.array(token, { maxLength: 30 }).map((tokens) => tokens.join(''));

  test('the forwarded bytes and the place of the detach are the same', () => {
    fc.assert(
      fc.property(input, fc.array(fc.nat(200)), (text, cuts) => {
        const chunks = cutAt(text, cuts);
        const { forwarded, detached } = feed(chunks);
        expect({ forwarded: forwarded.join(''), detached }).toEqual(whole(text));
        const place = detachPlace(text);
        let start = 0;
        const parser = createPrefixParser(parsePrefix('C-b'));
        for (const chunk of chunks) {
          const { detach } = parser.push(Buffer.from(chunk, 'latin1'));
          start += chunk.length;
          expect(detach).toBe(place !== -1 && place <= start);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('nothing is lost: only prefixes and the detaching d are ever kept back', () => {
    fc.assert(
      fc.property(input, (text) => {
        const { forwarded, detached } = whole(text);
        const consumed = detached ? text.slice(0, detachPlace(text)) : text;
        const strip = (value: string): string => value.replaceAll(PREFIX, '');
        const expected = strip(consumed);
        expect([expected, expected.replace(/d$/, '')]).toContain(strip(forwarded));
      }),
      { numRuns: 2000 },
    );
  });

  test('without escape codes it is the three rules and nothing else', () => {
    const keys = fc.array(fc.constantFrom(PREFIX, 'd', 'x'), { maxLength: 30 }).map((list) => list.join(''));
    fc.assert(fc.property(keys, (text) => expect(whole(text)).toEqual(threeRules(text))));
  });
});

function threeRules(text: string): { forwarded: string; detached: boolean } {
  let forwarded = '';
  for (let at = 0; at < text.length; at++) {
    const pair = text.slice(at, at + 2);
    if (!pair.startsWith(PREFIX)) forwarded += text[at];
    else if (pair === `${PREFIX}d`) return { forwarded, detached: true };
    else if (pair.length === 2) {
      forwarded += pair === PREFIX + PREFIX ? PREFIX : pair;
      at++;
    }
  }
  return { forwarded, detached: false };
}

function cutAt(text: string, cuts: number[]): string[] {
  const inside = cuts.filter((cut) => cut < text.length);
  const places = [...new Set([0, ...inside, text.length])].sort((a, b) => a - b);
  return places.slice(1).map((end, index) => text.slice(places[index], end));
}

/** How many bytes were needed, one by one, to detach; -1 if it never does. */
function detachPlace(text: string): number {
  const parser = createPrefixParser(parsePrefix('C-b'));
  const at = [...Buffer.from(text, 'latin1')].findIndex((byte) => parser.push(Uint8Array.of(byte)).detach);
  return at === -1 ? -1 : at + 1;
}
