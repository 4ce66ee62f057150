import Sequencer from '@jest/test-sequencer';

/** What takes minutes, longest first: started last, one of them would run alone at the end. */
const LONG = [
  'tools/test/oracle-',
  'e2e/races-',
  'e2e/policy',
  'e2e/kills',
  'e2e/isolation',
  'e2e/library',
  'hostile/withstand',
  'flows/hostile-trees',
  'tools/test/',
  'e2e/',
];

/** Long suites first, also where none has run before and their durations are not known. */
export default class LongFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const found = LONG.findIndex((part) => path.includes(part));
      return found === -1 ? LONG.length : found;
    };
    return super.sort(tests).sort((a, b) => rank(a) - rank(b));
  }
}
