import type { Terminal } from '@xterm/headless';
import type { CapsuleConnection } from '../../src/client/index.ts';
import type { CapsuleMessage } from '../../src/protocol/index.ts';
import { createEmulator, feed, screenOf } from './emulator.ts';

/** A client as an operator has it: an emulator behind a connection, and every message that came. */
export interface Watcher {
  readonly terminal: Terminal;
  readonly messages: CapsuleMessage[];
  readonly bytes: () => string;
  /** Resolves when the screen satisfies `test`; the failure shows the screen. */
  screen(test: string | RegExp | ((screen: string[]) => boolean), what?: string): Promise<string[]>;
  message<T extends CapsuleMessage['type']>(
    type: T,
    which?: (message: Extract<CapsuleMessage, { type: T }>) => boolean,
  ): Promise<Extract<CapsuleMessage, { type: T }>>;
}

/** Only for a failure to say what was there instead. */
const LIMIT_MS = 20_000;

export function watch(connection: CapsuleConnection, cols: number = 80, rows: number = 24): Watcher {
  const terminal = createEmulator(cols, rows);
  const messages: CapsuleMessage[] = [];
  const wakers = new Set<() => void>();
  let bytes = '';
  const wake = (): void => {
    for (const waker of [...wakers]) waker();
  };
  connection.onTerminal((chunk) => {
    bytes += Buffer.from(chunk).toString('latin1');
    return feed(terminal, chunk).then(wake);
  });
  connection.onMessage((message) => {
    messages.push(message);
    wake();
  });

  function until<T>(look: () => T | undefined, describe: () => string): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const timer = setTimeout(() => reject(new Error(describe())), LIMIT_MS);
    const check = (): void => {
      const found = look();
      if (found !== undefined) resolve(found);
    };
    wakers.add(check);
    check();
    return promise.finally(() => {
      clearTimeout(timer);
      wakers.delete(check);
    });
  }

  return {
    terminal,
    messages,
    bytes: () => bytes,
    screen: (test, what = String(test)) =>
      until(
        () => {
          const screen = screenOf(terminal);
          const text = screen.join('\n');
          const there =
            typeof test === 'function'
              ? test(screen)
              : typeof test === 'string'
                ? text.includes(test)
                : test.test(text);
          return there ? screen : undefined;
        },
        () => `the screen never showed ${what}; it shows:\n${screenOf(terminal).join('\n').trimEnd()}`,
      ),
    message: <T extends CapsuleMessage['type']>(
      type: T,
      which: (message: Extract<CapsuleMessage, { type: T }>) => boolean = () => true,
    ) =>
      until(
        () =>
          messages
            .filter((message): message is Extract<CapsuleMessage, { type: T }> => message.type === type)
            .find(which),
        () => `no ${type} came; there are: ${messages.map((message) => message.type).join(', ')}`,
      ),
  };
}
