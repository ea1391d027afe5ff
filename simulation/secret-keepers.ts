import { isFault } from '../schemas/fault.ts'
import type { Violation } from './checkers.ts'
import type { ForgettingRequest } from './forgetter.ts'
import type { Process } from './process.ts'
import { createRandom } from './random.ts'
import type { World } from './world.ts'

/** An acknowledged write of a secret. */
interface Acknowledged {
  readonly subject: string
  readonly version: number
  readonly value: string
  readonly at: number
}

/** Processes that replace secrets of people, as handlers of asks do with the tokens of an outside service. */
export interface SecretKeepers {
  done(): boolean
  /** Checks the secrets at the end of the run. */
  check(forgotten: readonly ForgettingRequest[]): readonly Violation[]
}

const KEEPERS = 2
const WRITES = 5
const NAME = 'token'
const RETRY_MS = 1_000

/** Each person has one numbered part with a secret. All keepers write the same secrets. */
export const startSecretKeepers = (
  world: World,
  { people, seed }: { readonly people: readonly string[]; readonly seed: number },
): SecretKeepers => {
  const subjects = people.map((person) => `${person}~link~1`)
  const acknowledged: Acknowledged[] = []
  let left = subjects.length === 0 ? 0 : KEEPERS
  const keeper = (index: number) => {
    const random = createRandom(seed ^ (0x5ec2e7 + index))
    let writes = 0
    return async (process: Process) => {
      const { keys, clock } = world.ports(process)
      for (; writes < WRITES; writes += 1) {
        await clock.sleep(random.pick([0, 5, 800, 6_000]))
        const subject = random.pick(subjects)
        const value = `${process.name} ${writes}`
        try {
          const expect = (await keys.store.secrets.read(subject, NAME))?.version ?? 0
          const stored = await keys.store.secrets.write(subject, NAME, { expect, value })
          if (stored === undefined) acknowledged.push({ subject, version: expect + 1, value, at: clock.now() })
        } catch (error) {
          if (!isFault(error, 'part-forgotten')) await clock.sleep(RETRY_MS)
        }
      }
      left -= 1
    }
  }
  if (left > 0)
    for (let index = 0; index < KEEPERS; index += 1) world.supervise(`keeper-${index}`, 600 + index, keeper(index))
  return { done: () => left <= 0, check: (forgotten) => checkSecrets(world, acknowledged, forgotten) }
}

/**
 * Two acknowledged writes have different versions. The stored version is at least the newest acknowledged one, and has its value. If the secret
 * was acknowledged before its person was forgotten, neither the secret nor a key of the part is stored.
 */
const checkSecrets = (
  { keyTable }: World,
  acknowledged: readonly Acknowledged[],
  forgotten: readonly ForgettingRequest[],
): readonly Violation[] => {
  const details: string[] = []
  const bySubject = new Map<string, Acknowledged[]>()
  for (const each of acknowledged) bySubject.set(each.subject, [...(bySubject.get(each.subject) ?? []), each])
  for (const [subject, writes] of bySubject) {
    if (new Set(writes.map(({ version }) => version)).size < writes.length)
      details.push(`two writes of the secret of ${subject} were acknowledged with the same version`)
    const stored = keyTable.secrets.get(subject)?.get(NAME)
    const isForgotten = forgotten.some(
      (request) => subject.startsWith(`${request.subject}~`) && writes.some(({ at }) => at < request.requestedAt),
    )
    if (isForgotten) {
      if (stored !== undefined) details.push(`the secret of the forgotten part ${subject} is stored`)
      if (keyTable.people.get(subject)?.key !== undefined) details.push(`the forgotten part ${subject} has a key`)
      continue
    }
    const newest = writes.reduce((a, b) => (b.version > a.version ? b : a))
    const isKept =
      stored !== undefined &&
      (stored.version > newest.version || (stored.version === newest.version && stored.value === newest.value))
    const mayBeGone = forgotten.some((request) => subject.startsWith(`${request.subject}~`))
    if (!isKept && !mayBeGone) details.push(`version ${newest.version} of the secret of ${subject} is lost`)
  }
  return details.map((detail) => ({ checker: 'secrets', detail }))
}
