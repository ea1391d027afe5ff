/** Generates the TypeScript types of a domain's schemas. */
import { fullName, isPrimitive, isUnion, shortName } from './avro.ts'
import type { Field, NamedSchema, Primitive, RecordSchema, Schema } from './avro.ts'
import { ENVELOPE, isEvent, namesOf, personalName } from './sources.ts'
import type { Source } from './sources.ts'

const PRIMITIVE_TYPES: { readonly [name in Primitive]: string } = {
  null: 'null',
  boolean: 'boolean',
  int: 'number',
  long: 'number',
  double: 'number',
  bytes: 'Buffer',
  string: 'string',
}

/** The types of the envelope. They are not generated, because event.ts declares them. */
const WRITTEN_BY_HAND = [ENVELOPE, 'tributary.Request']

/** `events`: the module from which generated files import the type `Event`. `command`: the command that writes generated files. */
export interface Generator {
  readonly events: string
  readonly command: string
}

export const typesOf = (domain: string, sources: readonly Source[], { events: from, command }: Generator): string => {
  const known = namesOf(sources)
  const schemas = sources.filter((source) => source.domain === domain).map(({ schema }) => schema)
  const events = schemas.filter(isEvent)
  const records = schemas.filter((schema) => !isEvent(schema) && !WRITTEN_BY_HAND.includes(fullName(schema)))
  return [
    `// Generated from schemas/${domain}.avdl by \`${command}\`. Do not edit.`,
    `import type { Event } from '${from}'`,
    ...records.flatMap(declaration),
    ...events.flatMap((schema) => eventTypes(schema, known)),
    '',
    `/** The events that schemas/${domain}.avdl declares. */`,
    `export type ${capital(domain)}Event =${events.map((schema) => `\n  | ${schema.name}`).join('')}`,
    '',
  ].join('\n')
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

const eventTypes = (schema: RecordSchema, known: ReadonlyMap<string, NamedSchema>): readonly string[] => {
  const { name } = schema
  const personal = known.has(personalName(fullName(schema)))
  const fields = schema.fields.filter((field) => field.name !== 'meta' && field.name !== 'personal')
  return [
    ...declaration({ ...schema, name: `${name}Data`, fields }),
    ...(personal ? [] : ['', `export type ${personalName(name)} = never`]),
    '',
    ...comment(schema.doc, ''),
    `export type ${name} = Event<'${name}', ${name}Data, ${personalName(name)}>`,
  ]
}

const comment = (doc: string | undefined, indent: string): readonly string[] =>
  doc === undefined ? [] : [`${indent}/** ${doc} */`]

const declaration = (schema: NamedSchema): readonly string[] => {
  if (schema.type === 'enum')
    return ['', ...comment(schema.doc, ''), `export type ${schema.name} = ${symbols(schema.symbols)}`]
  return ['', ...comment(schema.doc, ''), `export interface ${schema.name} {`, ...schema.fields.flatMap(member), '}']
}

const member = (field: Field): readonly string[] => [
  ...comment(field.doc, '  '),
  `  readonly ${field.name}: ${typeText(field.type)}`,
]

const symbols = (names: readonly string[]): string => names.map((symbol) => `'${symbol}'`).join(' | ')

const typeText = (schema: Schema): string => {
  if (typeof schema === 'string') return isPrimitive(schema) ? PRIMITIVE_TYPES[schema] : shortName(schema)
  if (isUnion(schema))
    return [...schema]
      .sort(nullLast)
      .map((branch) => typeText(branch))
      .join(' | ')
  if (schema.type === 'array') return `readonly ${bracketed(typeText(schema.items))}[]`
  if (schema.type === 'enum') return symbols(schema.symbols)
  if (schema.type === 'record') {
    return `{ ${schema.fields.map((field) => `readonly ${field.name}: ${typeText(field.type)}`).join('; ')} }`
  }
  return 'logicalType' in schema && schema.logicalType === 'bigint' ? 'bigint' : PRIMITIVE_TYPES[schema.type]
}

const nullLast = (a: Schema, b: Schema): number => Number(a === 'null') - Number(b === 'null')

const bracketed = (text: string): string => (text.includes(' ') ? `(${text})` : text)
