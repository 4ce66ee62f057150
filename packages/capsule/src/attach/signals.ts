export type HangupSignal = 'SIGHUP' | 'SIGINT' | 'SIGTERM';

export interface SignalHandlers {
  /** The terminal went away, or somebody asks this process to end. */
  onHangup(signal: HangupSignal): void;
  /** The process is about to be stopped: the terminal goes back to the shell. Must not wait. */
  onStop(): void;
  onContinue(): void;
}

const HANGUP_SIGNALS: readonly HangupSignal[] = ['SIGHUP', 'SIGINT', 'SIGTERM'];

/**
 * Follows the signals that concern an attached terminal.
 * @returns ends it; the signals do again what they did before
 */
export function watchSignals(handlers: SignalHandlers): () => void {
  const hangups = HANGUP_SIGNALS.map((signal) => [signal, () => handlers.onHangup(signal)] as const);
  const stop = (): void => {
    handlers.onStop();
    // Listening took the default action away.
    process.kill(process.pid, 'SIGSTOP');
  };
  for (const [signal, listener] of hangups) process.on(signal, listener);
  process.on('SIGTSTP', stop);
  process.on('SIGCONT', handlers.onContinue);
  return () => {
    for (const [signal, listener] of hangups) process.off(signal, listener);
    process.off('SIGTSTP', stop);
    process.off('SIGCONT', handlers.onContinue);
  };
}
