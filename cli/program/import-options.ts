import type { Domains } from '../../domains/domains.ts'
import type { ImportOption } from '../../projections/importing.ts'

/** The options that the importers of the domains declare. If two importers declare an option of one name, the first one describes it. */
export const importOptionsOf = ({ records }: Domains): readonly ImportOption[] => {
  const byName = new Map<string, ImportOption>()
  for (const { importer } of records)
    for (const option of importer?.options ?? []) if (!byName.has(option.name)) byName.set(option.name, option)
  return [...byName.values()]
}
