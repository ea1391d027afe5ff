import type { MealsImported } from '../../schemas/generated/meals.ts'
import { isName } from '../../projections/access/keys.ts'
import { isoOf } from '../../projections/instant.ts'
import type { ImportItem } from '../../projections/meals/items.ts'
import { imports } from '../../projections/meals/keys.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { refuse } from '../../projections/meals/refusals.ts'

/** Stores the record of an import. Each imported meal is an event of its own. */
export const mealsImported = ({ data: { importId, count, source }, meta }: MealsImported, get: Get): Result => {
  if (!isName(importId))
    return refuse(
      'import-id-invalid',
      'The id of an import has 1 to 128 letters, digits, dots, colons, dashes or underscores.',
    )
  const key = imports.key(meta.key, importId)
  if (get(key) !== undefined) return DUPLICATE
  return { items: [{ ...key, importId, count, source, importedAt: isoOf(meta.occurredAt) } satisfies ImportItem] }
}
