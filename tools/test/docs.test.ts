import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const SKIPPED = new Set(['node_modules', 'dist', '.nx', '.git', 'fixtures']);
const files = walk(REPOSITORY);
const pages = files.filter((path) => path.endsWith('.md'));
const sources = files.filter((path) => /^(packages|apps)\/[^/]+\/src\/.*\.ts$/.test(path));
const code = files.filter((path) => /^(packages|apps|tools|docs)\/.*\.(ts|js)$/.test(path));

/** UPPER_SNAKE words in the sources that are no codes: environment variables and names of git, Node and the terminal emulator. */
const NO_CODES =
  /^(JACKIN(_.*)?|GIT_(CONFIG|LFS|TERMINAL|OPTIONAL|NO|ASKPASS|PAGER)(_.*)?|(MERGE|CHERRY_PICK|REVERT|FETCH)_HEAD|NOTES_MERGE_WORKTREE|BISECT_LOG|ERR_.*|DOCKER_.*|XDG_.*|SSL_CERT_.*|NODE_.*|NO_COLOR|NO_PROXY|HTTPS?_PROXY|TESTCONTAINERS_.*|.*_API_KEY|.*_TOKEN|AUGMENT_SESSION_AUTH|LC_.*|KITTY_.*|TERM_.*|TMUX_PANE|VTE_VERSION|WEZTERM_PANE|SGR_PIXELS)$/;
const CODES_OF_ONE_WORD = ['USAGE', 'INTERNAL'];

describe('The documentation', () => {
  test.each(pages)('Every link in %s leads somewhere', (page) => {
    const links = Array.from(
      withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g),
      ([, link]) => link as string,
    );
    const broken = links.filter((link) => !/^(https?|mailto):/.test(link) && !leadsSomewhere(page, link));
    expect(broken).toEqual([]);
  });

  test('Every page and section that the code names exists', () => {
    const named = code.flatMap((path) =>
      Array.from(read(path).matchAll(/\bdocs\/[\w/-]+\.md(#[\w-]+)?/g), ([link]) => ({ path, link })),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(({ link }) => !leadsSomewhere('README.md', link))).toEqual([]);
  });

  test('Every page is reachable from the index', () => {
    const seen = new Set<string>();
    const visit = (page: string): void => {
      if (seen.has(page) || !existsSync(join(REPOSITORY, page))) return;
      seen.add(page);
      for (const [, link = ''] of read(page).matchAll(/\]\(([^)\s#]+\.md)(?:#[^)]*)?\)/g)) {
        if (!link.includes(':')) visit(relative(REPOSITORY, resolve(REPOSITORY, dirname(page), link)));
      }
    };
    visit('docs/README.md');
    expect(pages.filter((page) => page.startsWith('docs/') && !seen.has(page))).toEqual([]);
  });

  test('Every page that names a test names one that exists', () => {
    const named = pages.flatMap((page) =>
      Array.from(read(page).matchAll(/\b(?:packages|apps|tools)\/[\w./-]+\.test\.ts/g), ([path]) => path),
    );
    expect(named.filter((path) => !existsSync(join(REPOSITORY, path)))).toEqual([]);
  });
});

describe('The table of codes', () => {
  const listed = Array.from(
    read('docs/errors.md').matchAll(/^\| `([A-Z_0-9]+)`/gm),
    ([, name]) => name as string,
  );
  const used = new Set(sources.flatMap((path) => codesOf(read(path))));

  test('It lists every code the sources can give', () => {
    expect(used.size).toBeGreaterThan(50);
    expect([...used].filter((name) => !listed.includes(name)).sort()).toEqual([]);
  });

  test('It lists no code that nothing gives, and none twice', () => {
    expect(listed.filter((name, at) => !used.has(name) || listed.indexOf(name) !== at)).toEqual([]);
  });
});

function codesOf(text: string): string[] {
  const words = Array.from(
    text.matchAll(/['"]([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)['"]/g),
    ([, word]) => word as string,
  );
  return words.filter(
    (word) => CODES_OF_ONE_WORD.includes(word) || (word.includes('_') && !NO_CODES.test(word)),
  );
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : relative(REPOSITORY, resolve(REPOSITORY, dirname(page), path));
  if (!existsSync(join(REPOSITORY, target))) return false;
  return anchor === undefined || !target.endsWith('.md') || anchorsOf(target).includes(anchor);
}

/** As GitHub makes them. */
function anchorsOf(page: string): string[] {
  return Array.from(withoutCode(read(page)).matchAll(/^#+ (.+)$/gm), ([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '');
}

function read(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8');
}

function walk(root: string, dir = ''): string[] {
  return readdirSync(join(root, dir), { withFileTypes: true }).flatMap((entry) => {
    const path = dir === '' ? entry.name : `${dir}/${entry.name}`;
    if (SKIPPED.has(entry.name)) return [];
    return entry.isDirectory() ? walk(root, path) : [path];
  });
}
