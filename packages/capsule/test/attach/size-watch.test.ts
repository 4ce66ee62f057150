import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createSizeWatch } from '../../src/attach/size-watch.ts';

const LARGE = { cols: 100, rows: 30 };
const SMALL = { cols: 70, rows: 20 };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function watched(own = { ...LARGE }) {
  const repaint = jest.fn();
  return { own, repaint, watch: createSizeWatch(() => own, repaint) };
}

describe('the size of the session and of the terminal', () => {
  test('changing together need no repaint', () => {
    const { own, watch, repaint } = watched();
    watch.painted(LARGE);
    Object.assign(own, SMALL);
    watch.inForce(SMALL);
    jest.runAllTimers();
    expect(repaint).not.toHaveBeenCalled();
  });

  test('going apart need one, and coming together again another', () => {
    const { watch, repaint } = watched();
    watch.painted(LARGE);
    watch.inForce(SMALL);
    jest.runAllTimers();
    expect(repaint).toHaveBeenCalledTimes(1);
    watch.painted(SMALL);
    watch.inForce(SMALL);
    jest.runAllTimers();
    expect(repaint).toHaveBeenCalledTimes(1);
    watch.inForce(LARGE);
    jest.runAllTimers();
    expect(repaint).toHaveBeenCalledTimes(2);
  });

  test('changing many times while a window is dragged need one at the end', () => {
    const { watch, repaint } = watched();
    watch.painted(LARGE);
    for (let cols = 99; cols > 70; cols--) watch.inForce({ cols, rows: 30 });
    jest.runAllTimers();
    expect(repaint).toHaveBeenCalledTimes(1);
  });

  test('are of no interest after a repaint that came meanwhile, or after the end', () => {
    const { watch, repaint } = watched();
    watch.painted(LARGE);
    watch.inForce(SMALL);
    watch.painted(SMALL);
    jest.runAllTimers();
    watch.inForce(LARGE);
    watch.close();
    jest.runAllTimers();
    expect(repaint).not.toHaveBeenCalled();
  });
});
