import type { Edited } from '@jackin/config';
import type { ConfigurationResult, EditDocument } from './documents.ts';

/** What an edit did, or with a dry run would do. */
export function editResult(
  action: EditDocument['action'],
  subject: string,
  { file, changed, changes }: Edited,
  dryRun: boolean,
  instances: EditDocument['instances'] = [],
): Extract<ConfigurationResult, { kind: 'edit' }> {
  const document: EditDocument = {
    action: changed ? action : 'unchanged',
    subject,
    file,
    dry_run: dryRun,
    changes,
    instances,
  };
  return { kind: 'edit', document, exitCode: instances.every(({ done }) => done) ? 0 : 1 };
}
