import { JackinError, successDocument } from '@jackin/core';
import type { FlowResult, Jackin } from '@jackin/runtime';
import { Command, Flags, type Interfaces } from '@oclif/core';
import { type CliContext, cliContext } from './context.ts';
import { writeAll } from './write.ts';

export interface Invocation<C extends typeof Command> {
  flags: Interfaces.InferredFlags<C['flags']>;
  args: Interfaces.InferredArgs<C['args']>;
}

/**
 * Every verb: parse, run one flow, print its document once. `--json` prints it as the one document on stdout;
 * otherwise its text form goes there. Errors travel to the single exit point in main.ts.
 */
export abstract class JackinCommand<C extends typeof Command> extends Command {
  static override enableJsonFlag = true;
  static override baseFlags = {
    debug: Flags.boolean({ description: 'Tell every step on stderr.', helpGroup: 'GLOBAL' }),
  };

  protected readonly context: CliContext = cliContext();
  protected readonly textOptions = { detail: false };
  /** Whether words after `--` mean something to this verb. */
  protected readonly takesTail: boolean = false;
  private json = false;

  protected abstract execute(jackin: Jackin, invocation: Invocation<C>): Promise<FlowResult>;

  async run(): Promise<FlowResult> {
    const parsed = await this.parse(this.ctor as C);
    this.json = parsed.flags.json === true;
    if (this.context.tail !== null && !this.takesTail) {
      throw usageError(this.id, 'Only "jackin load" takes a command after "--".');
    }
    const { openJackin } = await import('./wiring.ts');
    const jackin = openJackin(this.context, { debug: parsed.flags.debug === true, json: this.json });
    const flags = withDefaults(this.ctor.flags, parsed.flags);
    const result = await this.execute(jackin, { ...parsed, flags } as unknown as Invocation<C>);
    await writeAll(this.context.stdout, await this.textOf(result));
    return result;
  }

  /** Printing is done in `run`, and only there. */
  override jsonEnabled(): boolean {
    return false;
  }

  protected override async catch(error: Error): Promise<never> {
    throw error;
  }

  /** An attached session owns the terminal, so it cannot promise one document on stdout. */
  protected refuseJsonUnless(detached: boolean, flags: string): void {
    if (this.json && !detached)
      throw usageError(this.id, `--json needs ${flags}: an attached session uses the terminal.`);
  }

  private async textOf(result: FlowResult): Promise<string> {
    if (this.json) return `${JSON.stringify(successDocument(result.document), null, 2)}\n`;
    const { renderResult, wantsColor } = await import('@jackin/tui');
    const color = wantsColor(this.context.stdout, this.context.env);
    return renderResult(result, { color, now: new Date(), ...this.textOptions });
  }
}

/** A switch that was not given is off; the parser leaves it out. One that can be turned off as well says nothing then. */
function withDefaults(
  defined: Interfaces.FlagInput | undefined,
  given: Record<string, unknown>,
): Record<string, unknown> {
  const switches = Object.entries(defined ?? {}).filter(
    ([, flag]) => flag.type === 'boolean' && flag.allowNo !== true,
  );
  return { ...Object.fromEntries(switches.map(([name]) => [name, false])), ...given };
}

/** A command line that cannot be meant: exit code 2. */
export function usageError(verb: string | undefined, message: string): JackinError {
  return new JackinError({
    code: 'USAGE',
    message,
    hint: `jackin ${(verb ?? '').replaceAll(':', ' ')} --help`,
    exitCode: 2,
  });
}
