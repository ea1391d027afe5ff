import type { Bug } from './bug.ts'

/** Mistakes in forgetting people, planted in runs of a domain with personal items. */
export const forgettingBugs = (domain: string): Readonly<Record<string, Bug>> => {
  const options: Bug['options'] = { domain, moves: ['rebuild', 'flip'] }
  return {
    'items keep the text of a forgotten person': {
      options,
      domain: (right) => ({
        ...right,
        ...(right.personal ? { personal: { ...right.personal, hasPersonalData: () => false } } : {}),
      }),
    },
    'the key of a forgotten person is not destroyed': {
      options,
      keys: (keys) => ({
        ...keys,
        step: (subject, step) => (step === 'destroyed' ? Promise.resolve() : keys.step(subject, step)),
      }),
    },
  }
}
