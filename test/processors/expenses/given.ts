import { expenses } from '../../../processors/expenses/domain.ts'
import { logKeyOf } from '../../../projections/expenses/keys.ts'
import { foldsOf } from '../../../testing/folds.ts'

export const { foldInto, tableOf, given } = foldsOf(expenses, logKeyOf)
