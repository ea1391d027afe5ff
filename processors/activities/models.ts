import type { ModelItem, ModelPart, ModelPartItem } from '../../projections/activities/items.ts'
import { modelIn, modelParts, models, twoDigits } from '../../projections/activities/keys.ts'
import { MAX_PARTS } from '../../projections/activities/milestones.ts'
import { modelIndexKeys } from '../../projections/activities/queries.ts'
import { refuse } from '../../projections/activities/refusals.ts'
import { isoOf } from '../../projections/instant.ts'
import { bare } from '../../projections/item.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import type { Refused } from '../../projections/refusal.ts'
import type { ModelPartDefined, ModelPublished, ModelRetired } from '../../schemas/generated/activities.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { isReference } from './bodies.ts'
import { wrongLogKey } from './connections.ts'

const MAX_TEXT = 500

/** The texts of a part. Longer texts are cut. */
export const partOf = ({ partName, meshFile, attachPoint }: ModelPart): ModelPart => ({
  partName: partName.slice(0, MAX_TEXT),
  meshFile: meshFile.slice(0, MAX_TEXT),
  attachPoint: attachPoint.slice(0, MAX_TEXT),
})

export const modelPublished = (event: ModelPublished, get: Get): Result => {
  const { data, meta } = event
  const { modelId, name, partsTotal, parts } = data
  if (!isModelKey(meta.key, modelId)) return wrongLogKey(meta.key)
  const before = get<ModelItem>(models.key(modelId))
  if (hasApplied(before?._heard, event)) return DUPLICATE
  if (before !== undefined) return refuse('model-exists', `There is a model ${modelId} already.`)
  if (parts.length !== partsTotal || partsTotal < 1 || partsTotal > MAX_PARTS)
    return refuse('model-invalid', `A model has 1 to ${MAX_PARTS} parts, and as many parts as partsTotal states.`)
  const model: ModelItem = {
    ...models.key(modelId),
    ...modelIndexKeys(modelId),
    modelId,
    name: name.slice(0, MAX_TEXT),
    partsTotal,
    status: 'PUBLISHED',
    isActive: true,
    publishedAtUtc: isoOf(meta.occurredAt),
    _heard: withApplied(undefined, event),
  }
  return { items: [model, ...parts.map((part, index) => partItem(modelId, index + 1, part))] }
}

export const modelPartDefined = (event: ModelPartDefined, get: Get): Result => {
  const { data, meta } = event
  const before = publishedModel(get, meta.key, data.modelId)
  if ('refusal' in before) return before
  const { model } = before
  if (hasApplied(model._heard, event)) return DUPLICATE
  if (data.part < 1 || data.part > model.partsTotal)
    return refuse('model-invalid', `The model ${data.modelId} has the parts 1 to ${model.partsTotal}.`)
  const changed: ModelItem = { ...bare(model), _heard: withApplied(model._heard, event) }
  return { items: [changed, partItem(data.modelId, data.part, data)] }
}

export const modelRetired = (event: ModelRetired, get: Get): Result => {
  const { data, meta } = event
  const before = publishedModel(get, meta.key, data.modelId)
  if ('refusal' in before) return before
  if (before.model.status === 'RETIRED') return DUPLICATE
  return { items: [{ ...bare(before.model), status: 'RETIRED', isActive: false } satisfies ModelItem] }
}

const isModelKey = (key: string, modelId: string): boolean => isReference(modelId) && modelIn(key) === modelId

const publishedModel = (get: Get, key: string, modelId: string): Refused | { readonly model: ModelItem } => {
  if (!isModelKey(key, modelId)) return wrongLogKey(key)
  const model = get<ModelItem>(models.key(modelId))
  return model === undefined ? refuse('model-not-found', `There is no model ${modelId}.`) : { model }
}

const partItem = (modelId: string, part: number, texts: ModelPart): ModelPartItem => ({
  ...modelParts.key(modelId, twoDigits(part)),
  partIndex: part,
  ...partOf(texts),
})
