import type { ModelItem, ModelPartItem } from '../../projections/activities/items.ts'
import { modelKey, modelParts, models } from '../../projections/activities/keys.ts'
import { MAX_PARTS } from '../../projections/activities/milestones.ts'
import { modelPage } from '../../projections/activities/queries.ts'
import type { Reader } from '../../projections/table.ts'
import { listing } from '../http/lists.ts'
import { mistake } from '../http/problem.ts'
import { command, question, type Route } from '../http/route.ts'
import { bool, integer, text } from '../http/schemas.ts'
import { arrayOf, shape } from '../http/shape.ts'
import { openAccount, requireNotDeleting } from './account.ts'
import { event, idSchema, modelOf, refused } from './params.ts'

const part = shape<ModelPartItem>()({ partIndex: integer, partName: text, meshFile: text, attachPoint: text })

const model = shape<ModelItem>()({
  id: { ...text, from: ({ modelId }) => modelId },
  modelId: text,
  name: text,
  partsTotal: integer,
  status: text,
  isActive: bool,
  publishedAtUtc: text,
})

const withParts = shape<ModelItem, [parts: readonly ModelPartItem[]]>()({
  ...model.fields,
  parts: { ...arrayOf(part.schema), from: (_, parts) => parts.map((each) => part.view(each)) },
})

/** The model with its parts. Undefined if there is none. */
export const readModel = async (
  reader: Reader,
  modelId: string,
): Promise<{ readonly meta: ModelItem; readonly parts: readonly ModelPartItem[] } | undefined> => {
  const [meta, parts] = await Promise.all([
    models.get(reader, modelId),
    modelParts.every(reader, modelId, { limit: MAX_PARTS }),
  ])
  return meta && { meta, parts }
}

const modelAnswer = async (reader: Reader, modelId: string) => {
  const found = await readModel(reader, modelId)
  return found && withParts.view(found.meta, found.parts)
}

const listModels = listing({
  url: '/models',
  operationId: 'listModels',
  byIndex: true,
  summary: 'List the models of which milestones earn parts.',
  admit: requireNotDeleting,
  of: model,
  page: ({ caller: { reader } }, paging) => modelPage(reader, paging),
})

const getModel = question({
  method: 'GET',
  url: '/models/:id',
  operationId: 'getModel',
  summary: 'Get a model with its parts.',
  admit: requireNotDeleting,
  result: withParts.schema,
  answer: async (call) => {
    const id = modelOf(call)
    const found = await modelAnswer(call.caller.reader, id)
    if (found === undefined) throw modelOf.missing(id)
    return found
  },
})

const word = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength, pattern: '\\S' }) as const

export const newModel = {
  type: 'object',
  additionalProperties: false,
  required: ['modelId', 'name', 'partsTotal', 'parts'],
  properties: {
    modelId: idSchema,
    name: word(200),
    partsTotal: { type: 'integer', minimum: 1, maximum: MAX_PARTS },
    parts: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_PARTS,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['partName', 'meshFile', 'attachPoint'],
        properties: { partName: word(200), meshFile: word(500), attachPoint: word(200) },
      },
    },
  },
} as const

const publishModel = command({
  method: 'POST',
  url: '/models',
  operationId: 'publishModel',
  summary: 'Publish a model. Requires a token with the scope admin.',
  scope: 'admin',
  admit: openAccount,
  body: newModel,
  status: 201,
  result: withParts.schema,
  decide: async ({ body, caller: { reader } }) => {
    const { modelId, name, partsTotal, parts } = body
    if (parts.length !== partsTotal)
      throw mistake(400, {
        pointer: '/parts',
        code: 'parts-mismatch',
        detail: `partsTotal is ${partsTotal}, but /parts has ${parts.length} entries. Send one entry per part.`,
      })
    if ((await models.get(reader, modelId)) !== undefined)
      throw refused('model-exists', `There is a model ${modelId}. Choose another modelId.`)
    return { id: modelId, key: modelKey(modelId), draft: event('ModelPublished', { modelId, name, partsTotal, parts }) }
  },
  answer: ({ caller: { reader }, body }) => modelAnswer(reader, body.modelId),
})

const retireModel = command({
  method: 'DELETE',
  url: '/models/:id',
  operationId: 'retireModel',
  summary:
    'Retire a model: new milestones cannot use it, and existing milestones keep it. Requires a token with the scope admin.',
  scope: 'admin',
  admit: openAccount,
  status: 200,
  result: withParts.schema,
  decide: async (call) => {
    const modelId = modelOf(call)
    if ((await models.get(call.caller.reader, modelId)) === undefined) throw modelOf.missing(modelId)
    return { id: modelId, key: modelKey(modelId), draft: event('ModelRetired', { modelId }) }
  },
  answer: (call) => modelAnswer(call.caller.reader, modelOf(call)),
})

export const modelRoutes: readonly Route[] = [listModels, getModel, publishModel, retireModel]
