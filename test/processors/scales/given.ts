import { scales } from '../../../processors/scales/domain.ts'
import { logKeyOf } from '../../../projections/scales/keys.ts'
import { foldsOf } from '../given.ts'

export { contents, type Table } from '../given.ts'
export const { foldInto, tableOf, given } = foldsOf(scales, logKeyOf)
