import { scales } from '../../../processors/scales/domain.ts'
import { foldsOf } from '../../../testing/folds.ts'

export { contents, type Table } from '../../../testing/folds.ts'
export const { foldInto, tableOf, given } = foldsOf(scales)
