// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a Dockerfile writes its variables that way.
import { describe, expect, it } from '@jest/globals';
import { imageReferences, parseDockerfile } from '../../../src/docker/images/dockerfile.ts';

const references = (text: string, args: Record<string, string> = {}) =>
  imageReferences(parseDockerfile(text), args);

describe('what a Dockerfile is built from', () => {
  it.each<[string, string, string[], string | null]>([
    ['one image', 'from debian:bookworm-slim\n', ['debian:bookworm-slim'], 'debian:bookworm-slim'],
    ['nothing', 'FROM scratch\nCOPY a /a\n', [], null],
    ['a platform', 'FROM --platform=linux/arm64 alpine:3\n', ['alpine:3'], 'alpine:3'],
    [
      'several stages',
      'FROM go:1 AS Build\nFROM build AS next\nFROM debian:12\nCOPY --from=build /a /a\n',
      ['go:1', 'debian:12'],
      'debian:12',
    ],
    [
      'a stage of its own at the end',
      'FROM go:1 AS a\nFROM debian:12 AS b\nFROM a\n',
      ['go:1', 'debian:12'],
      'go:1',
    ],
    [
      'a copy from another image',
      'FROM debian:12\nCOPY --chown=1:1 --from=node:24 /a /a\nCOPY --from=0 /b /b\n',
      ['debian:12', 'node:24'],
      'debian:12',
    ],
    ['one image twice', 'FROM debian:12 AS a\nFROM debian:12\n', ['debian:12'], 'debian:12'],
    ['an argument', 'ARG TAG=12\nFROM debian:${TAG}\n', ['debian:12'], 'debian:12'],
    [
      'an argument made of another',
      'ARG V=12\nARG BASE="debian:$V"\nFROM $BASE\n',
      ['debian:12'],
      'debian:12',
    ],
    ['a default in place', 'FROM ${BASE:-debian:12}\n', ['debian:12'], 'debian:12'],
    [
      'continued lines and comments',
      '# FROM no\nFROM \\\n  # FROM neither\n\n  debian:12 \\\n  AS x\n',
      ['debian:12'],
      'debian:12',
    ],
    [
      'a directive for continuations',
      '# escape=`\nFROM `\ndebian:12\nRUN dir C:\\\nFROM alpine:3\n',
      ['debian:12', 'alpine:3'],
      'alpine:3',
    ],
    [
      'a here-document with a FROM in it',
      'FROM debian:12\nRUN <<-"EOF"\nFROM no\n\tEOF\nFROM alpine:3\n',
      ['debian:12', 'alpine:3'],
      'alpine:3',
    ],
    ['DOS line ends', 'FROM debian:12\r\nRUN true\r\n', ['debian:12'], 'debian:12'],
  ])('%s', (_, text, refs, final) => {
    expect(references(text)).toMatchObject({ refs, final });
  });

  it('follows the arguments of the build, and only declared ones', () => {
    expect(references('ARG TAG=12\nFROM debian:$TAG\n', { TAG: '13' }).refs).toEqual(['debian:13']);
    expect(references('FROM debian:${TAG:-12}\n', { TAG: '13' }).refs).toEqual(['debian:12']);
  });

  it('knows a here-document from what only looks like one', () => {
    const has = (run: string) => parseDockerfile(`FROM a\nRUN ${run}\n`).hasHereDocument;
    expect(has('cat <<EOF > /x\nhello\nEOF')).toBe(true);
    expect(has('cat <<< EOF\nUSER a')).toBe(false);
    expect(has('echo $((1 << N))')).toBe(false);
    expect(has('echo <<EOF')).toBe(false);
  });

  it('knows when its last instruction is not finished', () => {
    expect(parseDockerfile('FROM a\nRUN x \\').endsOpen).toBe(true);
    expect(parseDockerfile('FROM a\nRUN x \\\n\n# end\n').endsOpen).toBe(true);
    expect(parseDockerfile('FROM a\nRUN x \\\\\n').endsOpen).toBe(false);
    expect(parseDockerfile('FROM a\nRUN x').endsOpen).toBe(false);
  });

  it('reports the line an instruction begins at', () => {
    expect(
      parseDockerfile('# a\n\nFROM a\nRUN x \\\n y\nUSER b\n').instructions.map(({ line }) => line),
    ).toEqual([3, 4, 6]);
  });
});
