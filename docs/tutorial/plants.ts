import { isoOf } from '../../projections/instant.ts'
import type { Item, Key } from '../../projections/item.ts'
import { projection, type Domain, type Get, type Result } from '../../projections/projection.ts'
import type { Event } from '../../schemas/event.ts'

export type PlantWatered = Event<'PlantWatered', { readonly millilitres: number }, never>

export type PlantItem = Key & { readonly total: number; readonly waterings: number; readonly lastWateredAt: string }

export const plantKey = (plant: string): Key => ({ PK: `PLANT#${plant}`, SK: 'CARE' })
const wateringKey = (plant: string, event: string): Key => ({ PK: `PLANT#${plant}`, SK: `WATERING#${event}` })

const watered = ({ meta, data }: PlantWatered, get: Get): Result => {
  const watering = wateringKey(meta.key, meta.eventId)
  if (get(watering) !== undefined) return { duplicate: true }
  const before = get<PlantItem>(plantKey(meta.key))
  if (data.millilitres > 2_000)
    return { refusal: { code: 'plant-would-drown', detail: `${data.millilitres} ml is too much for one plant.` } }
  const after: PlantItem & Item = {
    ...plantKey(meta.key),
    total: (before?.total ?? 0) + data.millilitres,
    waterings: (before?.waterings ?? 0) + 1,
    lastWateredAt: isoOf(meta.occurredAt),
  }
  return { items: [after, watering] }
}

export const plants: Domain = {
  name: 'plants',
  topic: 'plants.events',
  table: { name: 'plants', ttl: 'ttl', indexes: [] },
  foldVersion: 1,
  projections: [projection<PlantWatered>('care', { PlantWatered: watered })],
}
