/** One line of the tour. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function chapter(title: string): void {
  say(`\n== ${title}`);
}

export function held(sentence: string): void {
  say(`  ok: ${sentence}`);
}
