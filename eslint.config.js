import { existsSync, readdirSync } from 'node:fs'
import { createNodeResolver, importX } from 'eslint-plugin-import-x'
import tseslint from 'typescript-eslint'

const root = import.meta.dirname
const foldersOf = (path) =>
  existsSync(`${root}/${path}`)
    ? readdirSync(`${root}/${path}`, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
    : []

const domains = foldersOf('processors').filter((name) => !['adapters', 'engine', 'folding'].includes(name))
const everyone = ['./node_modules', './schemas']

/** The import law of the design: the folders that each folder may import. */
const law = {
  schemas: ['./node_modules', './schemas'],
  projections: [...everyone, './projections'],
  'processors/engine': [...everyone, './projections', './processors/engine'],
  'processors/folding': [...everyone, './projections', './processors/folding'],
  'processors/adapters': [...everyone, './projections', './processors/engine', './processors/adapters'],
  producers: [
    ...everyone,
    './projections',
    './processors/engine/ports/log.ts',
    './processors/engine/ports/secrets.ts',
    './producers',
  ],
  api: [...everyone, './projections', './processors', './producers', './domains', './simulation', './testing', './api'],
  domains: [...everyone, './projections', './processors', './producers', './simulation', './domains'],
  host: [...everyone, './projections', './processors', './producers', './domains', './host'],
  cli: [
    ...everyone,
    './projections',
    './processors',
    './producers',
    './domains',
    './host',
    './cli',
    './bench',
    './simulation',
    './package.json',
  ],
  testing: [
    ...everyone,
    './projections',
    './processors/engine',
    './producers/access',
    './producers/commands.ts',
    './producers/http',
    './domains/record.ts',
    './simulation',
    './testing',
  ],
  simulation: [...everyone, './projections', './processors', './domains', './simulation'],
  bench: [
    ...everyone,
    './projections',
    './processors',
    './producers',
    './domains',
    './host',
    './cli',
    './bench',
    './test',
    './testing',
    './timestream-local/server.ts',
  ],
  'timestream-local': ['./node_modules', './timestream-local'],
}
for (const domain of domains)
  law[`processors/${domain}`] = [
    ...new Set([...everyone, './projections', './processors/folding', `./processors/${domain}`]),
  ]

/** The chapters of the engine, each with the other chapters that it may import. Imports inside of the engine point one way. */
const chapters = {
  ports: [],
  fold: ['ports'],
  rows: ['ports'],
  timing: ['ports'],
  poison: ['ports', 'fold', 'rows'],
  outgoing: ['ports', 'fold', 'rows', 'timing'],
  asks: ['ports', 'rows', 'timing', 'outgoing'],
  generations: ['ports', 'fold', 'rows', 'timing', 'poison', 'outgoing', 'asks'],
  rebuild: ['ports', 'fold', 'timing', 'poison', 'outgoing', 'asks', 'generations'],
  proof: ['ports', 'fold', 'poison', 'outgoing', 'asks', 'generations', 'rebuild'],
  run: ['ports', 'fold', 'rows', 'timing', 'poison', 'outgoing', 'asks', 'generations'],
  people: ['ports', 'rows', 'outgoing', 'run'],
}
for (const chapter of foldersOf('processors/engine')) {
  const others = (chapters[chapter] ?? []).map((other) => `./processors/engine/${other}`)
  law[`processors/engine/${chapter}`] = [...everyone, './projections', ...others, `./processors/engine/${chapter}`]
}

const zones = Object.entries(law).map(([folder, allowed]) => ({
  target: `./${folder}`,
  from: './',
  except: allowed,
  message: `${folder}/ may import only ${allowed.filter((path) => path !== './node_modules').join(', ')} (docs/principles.md, the import law).`,
}))

/** The shared parts of producers/. They know no domain: a domain gives them its routes, webhooks, device messages and live feeds. */
const transports = ['access', 'demo', 'http', 'live', 'mqtt'].map((name) => `./producers/${name}`)
for (const target of [...transports, './producers/*.ts'])
  zones.push({
    target,
    from: domains.flatMap((domain) => [
      `./producers/${domain}`,
      `./projections/${domain}`,
      `./schemas/generated/${domain}.ts`,
    ]),
    message: `${target.slice(2)} must not import a domain's folder. Pass what it needs in the domain's record (docs/principles.md, the import law).`,
  })

const pure = 'Folds and projections are pure: take it from the event, or as an argument.'
const impureGlobals = [
  'process',
  'crypto',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'performance',
  'console',
  'require',
  'globalThis',
]
const impureCalls = [
  ['Date', 'now'],
  ['Math', 'random'],
]
const doubleCast = {
  selector: "TSAsExpression > TSAsExpression[typeAnnotation.type='TSUnknownKeyword']",
  message: 'No `as unknown as`: give the value its type where it is made.',
}
const impureSyntax = [
  "NewExpression[callee.name='Date'][arguments.length=0]",
  "CallExpression[callee.name='Date']",
  'ImportExpression',
  "MemberExpression[object.name='Temporal'][property.name='Now']",
]
const impureModules = [
  'node:*',
  'assert',
  'buffer',
  'child_process',
  'cluster',
  'crypto',
  'dgram',
  'dns',
  'fs',
  'fs/*',
  'http',
  'http2',
  'https',
  'net',
  'os',
  'perf_hooks',
  'process',
  'stream',
  'timers',
  'timers/*',
  'tls',
  'util',
  'worker_threads',
  'lmdb',
  'kafkajs',
  'fastify',
  'pino',
  'prom-client',
  '@aws-sdk/*',
]
const randomIds = {
  group: ['uuid'],
  importNamePattern: '^v(1|4|6|7)$',
  message: `Random ids are not for folds. ${pure}`,
}

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      'data/**',
      '.cache/**',
      'coverage/**',
      'schemas/generated/**',
      'templates/**',
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: true } },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommended],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: root } },
    plugins: { 'import-x': importX },
    settings: {
      'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts', '.js', '.json'] })],
      'import-x/extensions': ['.ts', '.js'],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
    },
    rules: {
      'import-x/no-restricted-paths': ['error', { basePath: root, zones }],
      'import-x/no-cycle': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/no-require-imports': 'error',
      eqeqeq: 'error',
      'prefer-const': 'error',
      'no-var': 'error',
      'no-restricted-syntax': ['error', doubleCast],
    },
  },
  {
    files: [
      '{schemas,projections,processors,producers,domains,host,cli,simulation,testing,api,bench,timestream-local}/**/*.ts',
    ],
    rules: { 'max-lines': ['error', 300], 'max-lines-per-function': ['error', 80], 'max-params': ['error', 4] },
  },
  {
    files: ['projections/**/*.ts', ...domains.map((domain) => `processors/${domain}/**/*.ts`)],
    rules: {
      'no-restricted-globals': ['error', ...impureGlobals.map((name) => ({ name, message: pure }))],
      'no-restricted-properties': [
        'error',
        ...impureCalls.map(([object, property]) => ({ object, property, message: pure })),
      ],
      'no-restricted-imports': ['error', { patterns: [{ group: impureModules, message: pure }, randomIds] }],
      'no-restricted-syntax': ['error', doubleCast, ...impureSyntax.map((selector) => ({ selector, message: pure }))],
    },
  },
  {
    // A fold answers at once. (The questions of a projection wait for the store.)
    files: domains.map((domain) => `processors/${domain}/**/*.ts`),
    rules: {
      'no-restricted-syntax': [
        'error',
        doubleCast,
        ...[...impureSyntax, 'AwaitExpression'].map((selector) => ({ selector, message: pure })),
      ],
    },
  },
)
