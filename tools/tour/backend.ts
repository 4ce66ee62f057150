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

/** Docker when its backend is there and doctor found nothing wrong with it, standalone otherwise. */
export function chooseBackend(findings: TourFinding[]): BackendChoice {
  const docker = findings.filter(({ check }) => check === 'docker' || check.startsWith('docker.'));
  const wrong = docker.find(({ severity }) => severity === 'error');
  const [first] = docker;
  if (first !== undefined && wrong === undefined) return { backend: 'docker', because: first.message };
  const missing = wrong ?? findings.find(({ check }) => check === 'backend');
  return { backend: 'standalone', because: missing?.message ?? 'doctor names no Docker engine' };
}
