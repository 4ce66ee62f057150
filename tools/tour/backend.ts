/** What the tour reads of `jackin doctor --json`. */
export interface TourFinding {
  check: string;
  severity: 'ok' | 'info' | 'warning' | 'error';
  message: string;
}

export interface BackendChoice {
  backend: 'docker' | 'standalone';
  /** In doctor's own words where it has any. */
  because: string;
}

/**
 * Docker when doctor found an engine of this machine that answers and nothing wrong with it, standalone otherwise. An
 * engine behind a network does not see the tour's directory.
 */
export function chooseBackend(findings: TourFinding[]): BackendChoice {
  const docker = findings.filter(({ check }) => check === 'docker' || check.startsWith('docker.'));
  const hindrance =
    docker.find(({ severity }) => severity === 'error') ??
    docker.find(({ check }) => check === 'docker.remote');
  const [first] = docker;
  if (first !== undefined && hindrance === undefined) return { backend: 'docker', because: first.message };
  const missing = hindrance ?? findings.find(({ check }) => check === 'backend');
  return { backend: 'standalone', because: missing?.message ?? 'doctor names no Docker engine' };
}
