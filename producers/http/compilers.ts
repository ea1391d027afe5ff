import ajv, { type BuildCompilerFromPool } from '@fastify/ajv-compiler'
import stringify, { type SerializerFactory } from '@fastify/fast-json-stringify-compiler'

type Validate = ReturnType<ReturnType<BuildCompilerFromPool>>

/** Compiled when a route is first called: to compile every schema at once took a third of the start. */
const lazyValidators: BuildCompilerFromPool = (schemas, options) => {
  const compile = ajv()(schemas, options)
  return (route) => {
    let known: Validate | undefined
    const validate: { (value: unknown): unknown; errors?: unknown } = (value) => {
      known ??= compile(route)
      const valid: unknown = known(value)
      validate.errors = known.errors
      return valid
    }
    return validate as Validate
  }
}

const lazySerializers: SerializerFactory = (schemas, options) => {
  const compile = stringify()(schemas, options)
  return (route) => {
    let known: ReturnType<typeof compile> | undefined
    return (value: unknown) => (known ??= compile(route))(value)
  }
}

/** Fastify's own, asked later. */
export const lazyCompilers = { buildValidator: lazyValidators, buildSerializer: lazySerializers }
