import type { Bug } from './bug.ts'

/** Mistakes in forgetting people and in their secrets, planted in runs of a domain with personal items. */
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
    'the parts of a forgotten person are not forgotten': {
      options,
      keys: (keys) => ({ ...keys, parts: async () => [] }),
    },
    'a secret is written without a check of its version': {
      options,
      detectedBy: 'secrets',
      keys: (keys) => ({
        ...keys,
        secrets: {
          ...keys.secrets,
          write: async (subject, name, { value }) => {
            const expect = (await keys.secrets.read(subject, name))?.version ?? 0
            return keys.secrets.write(subject, name, { expect, value })
          },
        },
      }),
    },
    'a conflict of two writes of a secret is taken for success': {
      options,
      detectedBy: 'secrets',
      keys: (keys) => ({
        ...keys,
        secrets: {
          ...keys.secrets,
          write: async (...secret) => {
            await keys.secrets.write(...secret)
            return undefined
          },
        },
      }),
    },
  }
}

/** Mistakes with log keys, planted in runs of a domain in which people have several log keys. */
export const placeBugs = (domain: string): Readonly<Record<string, Bug>> => ({
  'log keys after the first page are not swept': {
    options: { domain, moves: ['rebuild', 'flip'] },
    keys: (keys) => ({
      ...keys,
      async *places(subject) {
        for await (const page of keys.places(subject)) {
          yield page
          return
        }
      },
    }),
  },
})
