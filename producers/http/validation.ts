import { counted } from '../../schemas/counted.ts'
import { Problem, type Mistake } from './problem.ts'

/** One violation, as Ajv reports it. */
export interface Violation {
  readonly keyword: string
  readonly instancePath: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
  /** Set if the name of a field is wrong. Skipped, because Ajv reports the same name again in a violation with the keyword `propertyNames`. */
  readonly propertyName?: string
}

const MOST = 20

/** The Problem for a request that does not match the schema of its route. It lists each mistake with its place and the correction. */
export const violationsProblem = (violations: readonly Violation[], place: string): Problem => {
  const errors = violations
    .filter(({ propertyName }) => propertyName === undefined)
    .slice(0, MOST)
    .map((violation) => explained(violation, place))
  const [first] = errors
  return first
    ? new Problem(400, first.code, first.detail, { errors })
    : new Problem(400, 'bad-format', `The ${place} does not match the schema of the route. See GET /openapi.json.`)
}

const explained = (violation: Violation, place: string): Mistake => {
  const pointer = pointerOf(violation, place)
  const explain = EXPLAIN[violation.keyword] ?? [
    'bad-format',
    ({ message }: Violation) => `${message ?? 'does not match the schema'}.`,
  ]
  return { pointer, code: explain[0], detail: `${pointer === '' ? 'The body' : pointer}: ${explain[1](violation)}` }
}

const pointerOf = ({ keyword, instancePath, params }: Violation, place: string): string => {
  const base = place === 'body' ? '' : `${place}`
  const child =
    keyword === 'required'
      ? params['missingProperty']
      : keyword === 'additionalProperties'
        ? params['additionalProperty']
        : undefined
  const tail = typeof child === 'string' ? `/${child.slice(0, 80).replaceAll('~', '~0').replaceAll('/', '~1')}` : ''
  return `${base}${instancePath}${tail}`
}

type Explain = readonly [code: string, detail: (violation: Violation) => string]

const bound = ({ params }: Violation) => `it must be ${String(params['comparison'])} ${String(params['limit'])}.`

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
}

/** The allowed types as text. `type` is one type, or several types with commas between them. */
const typesOf = (type: unknown): string =>
  String(type)
    .split(',')
    .map((each) => TYPES[each] ?? each)
    .join(' or ')

const some = (limit: unknown, noun: string): string => counted(Number(limit), noun)

const EXPLAIN: Readonly<Record<string, Explain>> = {
  type: ['wrong-type', ({ params }) => `it must be ${typesOf(params['type'])}.`],
  required: ['missing-field', () => 'it is required. Add it.'],
  additionalProperties: ['unknown-field', () => 'there is no such field. Leave it out.'],
  propertyNames: ['bad-name', () => 'it contains a name that is not allowed. See GET /openapi.json.'],
  minimum: ['out-of-range', bound],
  maximum: ['out-of-range', bound],
  minLength: ['too-short', ({ params }) => `it must have at least ${some(params['limit'], 'character')}.`],
  maxLength: ['too-long', ({ params }) => `it must have at most ${some(params['limit'], 'character')}.`],
  minItems: [
    'too-few',
    ({ params }) =>
      `it must have at least ${params['limit'] === 1 ? '1 entry' : `${String(params['limit'])} entries`}.`,
  ],
  maxItems: ['too-many', ({ params }) => `it must have at most ${String(params['limit'])} entries.`],
  minProperties: ['nothing-to-change', ({ params }) => `it must have at least ${some(params['limit'], 'field')}.`],
  maxProperties: ['too-many', ({ params }) => `it must have at most ${some(params['limit'], 'field')}.`],
  uniqueItems: ['duplicate-entry', () => 'it contains an entry twice. Send it once.'],
  enum: ['not-allowed', ({ params }) => `it must be one of ${JSON.stringify(params['allowedValues'])}.`],
  pattern: ['bad-format', ({ params }) => `it must match ${String(params['pattern'])}.`],
}
