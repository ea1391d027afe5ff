import type { Secret, Secrets } from '../../../processors/engine/ports/secrets.ts'
import { Fault } from '../../../schemas/fault.ts'

export interface MemorySecrets extends Secrets {
  /** The number of the call, from now, that fails as if the process died. `before`: the call has no effect. Undefined: no call fails. */
  dieAt(call: number | undefined, when?: 'before' | 'after'): void
  /** The number of calls so far. */
  readonly calls: number
  /** Every later read and write of this subject fails, as for a part of a person that was forgotten. */
  forget(subject: string): void
}

export const memorySecrets = (): MemorySecrets => {
  const stored = new Map<string, Secret>()
  const forgotten = new Set<string>()
  let [calls, dying, when]: [number, number | undefined, 'before' | 'after'] = [0, undefined, 'before']
  const call = async <T>(effect: () => T): Promise<T> => {
    calls += 1
    const dies = dying !== undefined && (dying -= 1) === 0
    if (dies && when === 'before') throw new Error('killed')
    const result = effect()
    if (dies) throw new Error('killed')
    return result
  }
  const keyOf = (subject: string, name: string) => `${subject}/${name}`
  return {
    get calls() {
      return calls
    },
    dieAt: (at, moment = 'before') => void ([dying, when] = [at, moment]),
    forget: (subject) => void forgotten.add(subject),
    read: (subject, name) => call(() => stored.get(keyOf(subject, name))),
    write: (subject, name, { expect, value }) =>
      call(() => {
        if (forgotten.has(subject)) throw new Fault('part-forgotten', `The part ${subject} was forgotten.`)
        const present = stored.get(keyOf(subject, name))
        if ((present?.version ?? 0) !== expect) return present ?? { version: 0, value: '' }
        stored.set(keyOf(subject, name), { version: expect + 1, value })
        return undefined
      }),
    drop: (subject, name) => call(() => void stored.delete(keyOf(subject, name))),
  }
}
