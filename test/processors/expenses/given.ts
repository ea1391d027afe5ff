import { expenses } from '../../../processors/expenses/domain.ts'
import { foldsOf } from '../../../testing/folds.ts'

export const { foldInto, tableOf, given } = foldsOf(expenses)
