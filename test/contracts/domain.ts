import { describe, test } from 'vitest'
import type { DomainCase } from './domain-case.ts'
import { FOLD_RULES } from './domain-folds.ts'
import { FORGETTING_RULES } from './domain-forgetting.ts'
import { HTTP_RULES } from './domain-http.ts'
import { TABLE_RULES } from './domain-table.ts'

export type { DomainCase } from './domain-case.ts'

/** The contract of every domain: what the engine and the edge rely on. A domain of your own runs it as `test/domains/meals.test.ts` does. */
export const domainContract = (subject: DomainCase): void => {
  const { domain, edge } = subject
  describe(`the domain ${domain.name}`, () => {
    for (const [name, rule] of Object.entries({ ...FOLD_RULES, ...TABLE_RULES, ...(domain.personal && FORGETTING_RULES) })) test(name, () => rule(subject))
  })
  if (edge === undefined) return
  describe(`the edge of ${domain.name}`, () => {
    for (const [name, rule] of Object.entries(HTTP_RULES)) test(name, () => rule(edge))
  })
}
