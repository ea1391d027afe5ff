import { describe, test } from 'vitest'
import { furtherDomains } from '../../domains/record.ts'
import type { ContractCase } from './case.ts'
import { FOLD_RULES } from './fold-rules.ts'
import { FORGETTING_RULES } from './forgetting-rules.ts'
import { HTTP_RULES } from './http-rules.ts'
import { edgeCaseOf } from './scene.ts'
import { TABLE_RULES } from './table-rules.ts'

/**
 * Declares the tests of a domain: `domainContract({ record: plants, pools: { keys: ['fern', 'ivy'] } })`.
 * The tests cover the domain of the record, its further domains (`series` and `also`) and its edge. They check the promises on which the
 * engine and the edge rely:
 * - A fold accepts every event that the schemas allow, and keeps the laws of folds.
 * - A second delivery of an event changes nothing. Batches of any size and any order of keys give the same items.
 * - If the domain stores personal data, no item contains personal data of a forgotten person.
 * - The table and its keys are valid.
 * - The edge answers every request, refuses bad input, and describes its routes.
 */
export const domainContract = (subject: ContractCase): void => {
  itemContract(subject)
  const { record, isApplied: _, further = {}, ...others } = subject
  for (const domain of furtherDomains(record))
    itemContract({ ...others, ...further[domain.name], record: { domain }, isFurther: true })
  const edgeCase = edgeCaseOf(subject)
  if (edgeCase === undefined) return
  describe(`the edge of ${record.domain.name}`, () => {
    for (const [name, rule] of Object.entries(HTTP_RULES)) test(name, () => rule(edgeCase))
  })
}

const itemContract = (subject: ContractCase): void => {
  const { domain } = subject.record
  describe(`the domain ${domain.name}`, () => {
    for (const [name, rule] of Object.entries({
      ...FOLD_RULES,
      ...TABLE_RULES,
      ...(domain.personal && FORGETTING_RULES),
    }))
      test(name, () => rule(subject))
  })
}
