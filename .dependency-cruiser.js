import { Visitor } from '@swc/core/Visitor.js';
import { boundaryRules } from './tools/boundaries/rules.js';

// swc's own visitor stops at a `using` declaration: let it look at the initialisers like those of any other.
const { visitStatement } = Visitor.prototype;
Visitor.prototype.visitStatement = function (statement) {
  if (statement.type !== 'UsingDeclaration') return visitStatement.call(this, statement);
  return { ...statement, decls: this.visitVariableDeclarators(statement.decls) };
};

/** `npm run boundaries`. swc parses: dependency-cruiser cannot use TypeScript 7's compiler yet. */
export default {
  forbidden: boundaryRules(process.cwd()),
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@jackin/source', 'import', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
