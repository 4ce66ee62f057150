import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The packages from the leaf up: a package may import only from those before it (docs/architecture.md#packages). */
const PACKAGE_ORDER = ['core', 'config', 'instance', 'isolation', 'agents', 'capsule', 'runtime', 'tui'];

/** The dependency-cruiser rules for the workspace at `root` (docs/decisions/0003-boundaries.md). */
export function boundaryRules(root) {
  return [...orderRules(), ...toolRules(), unknownPackageRule(), ...doorRules(root), ...shapeRules()];
}

function orderRules() {
  return PACKAGE_ORDER.map((name, index) => ({
    name: `order-${name}`,
    comment: `@jackin/${name} may import only packages before it: ${PACKAGE_ORDER.join(' < ')} < apps`,
    severity: 'error',
    from: { path: `^packages/${name}/` },
    to: {
      path: [...PACKAGE_ORDER.slice(index + 1).map((later) => `^packages/${later}/`), '^apps/'],
    },
  }));
}

/** Tools use the packages, not the other way round; only a test may start an engine of its own. */
function toolRules() {
  return [
    {
      name: 'no-tools',
      comment: 'A package does not use the tools of this repository',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/[^/]+/test/' },
      to: { path: '^tools/' },
    },
    {
      name: 'test-tools',
      comment: "Of the tools a package's tests use only tools/docker-lab, tools/hostile and tools/oracle",
      severity: 'error',
      from: { path: '^packages/[^/]+/test/' },
      to: { path: '^tools/', pathNot: '^tools/(docker-lab|hostile|oracle)/' },
    },
  ];
}

/** A package that the order does not name would escape every order rule. */
function unknownPackageRule() {
  return {
    name: 'package-in-order',
    comment: 'Every package has a place in tools/boundaries/rules.js',
    severity: 'error',
    from: {},
    to: { path: '^packages/', pathNot: `^packages/(${PACKAGE_ORDER.join('|')})/` },
  };
}

/** Other packages are reached through the doors in their package.json, by name. */
function doorRules(root) {
  const doors = packageDoors(root).map((door) => `^${door.replaceAll('.', '\\.')}$`);
  return [
    {
      name: 'package-door',
      comment: "Import another package through a door of its package.json's exports",
      severity: 'error',
      from: { path: '^(packages|apps)/([^/]+)/' },
      to: { path: '^packages/', pathNot: ['^packages/$2/', ...doors] },
    },
    {
      name: 'package-door-by-name',
      comment: 'Import another package by its name, not by a relative path',
      severity: 'error',
      from: { path: '^(packages|apps)/([^/]+)/' },
      to: {
        path: '^(packages|apps)/',
        pathNot: '^$1/$2/',
        dependencyTypes: ['local'],
        dependencyTypesNot: ['aliased-workspace'],
      },
    },
    {
      name: 'package-door-tools',
      comment: 'Tools and examples use packages as any other program does',
      severity: 'error',
      from: { path: '^(tools|docs)/' },
      to: { path: '^packages/', pathNot: doors },
    },
  ];
}

function shapeRules() {
  return [
    {
      name: 'no-cycle',
      comment: 'Files must not import each other in a circle, types included',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'Imports must resolve: a missing file, a door that does not exist, or an undeclared package',
      severity: 'error',
      // The launcher's ./main.js is made by the bundler; the packed run proves that it is there.
      from: { pathNot: '^apps/jackin/launcher/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'sources-import-sources',
      comment: 'Shipped sources import neither tests nor scripts',
      severity: 'error',
      from: { path: '^(packages|apps)/[^/]+/src/' },
      to: { path: ['^(packages|apps)/[^/]+/(test|scripts)/', '^tools/'] },
    },
  ];
}

function packageDoors(root) {
  const packagesDir = join(root, 'packages');
  return readdirSync(packagesDir)
    .filter((name) => existsSync(join(packagesDir, name, 'package.json')))
    .flatMap((name) => {
      const manifest = JSON.parse(readFileSync(join(packagesDir, name, 'package.json'), 'utf8'));
      return Object.values(manifest.exports ?? {}).map((door) =>
        join('packages', name, door['@jackin/source']).replaceAll('\\', '/'),
      );
    });
}
