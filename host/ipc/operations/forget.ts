import { forget, type ForgetParts, type Forgot } from '../../../processors/engine/people/forgetting.ts'
import { Fault } from '../../../schemas/fault.ts'
import { noOutput, type Handler } from '../operations.ts'
import type { Runtime } from '../../wiring/runtime.ts'
import { dropOne } from './generations.ts'

const FOLDED_MS = 15_000
/** A process that lost its partition ends its last commit within this number of Kafka sessions. */
const SESSIONS = 2

export const forgetPerson: Handler<'forget'> = async (runtime, { subject }, output) => {
  if (subject === '') throw new Fault('bad-usage', 'Name the person: tributary forget --subject ID.')
  return forgetSubject(runtime, subject, (text) => output.progress(text))
}

/** Ends the sessions of a person, and forgets the person. */
export const forgetSubject = async (
  runtime: Runtime,
  subject: string,
  progress: (text: string) => void = () => undefined,
): Promise<Forgot> => {
  // Sessions that began with a JWT do not end with the tokens of the person.
  await runtime.sessions.endAll(subject)
  return forget({ ...forgetPartsOf(runtime), progress }, subject)
}

export const forgetPartsOf = (runtime: Runtime): ForgetParts => {
  const { config, keys, pipelines, adapters, clock } = runtime
  const drop: ForgetParts['drop'] = async ({ domain, control }, generation) => {
    const listed = (await control.generations(domain.name)).find((each) => each.generation === generation)
    await dropOne(runtime, { domain: domain.name, generation }, noOutput())
    const place = listed?.work?.place
    if (place === undefined || place === adapters.buildStorage(domain).place) return []
    return [
      `Generation ${generation} of ${domain.name} was being built at ${place}. If its builder still runs, the builder removes the files and begins again. Otherwise remove the folder builds/ there.`,
    ]
  }
  const clearBuild: ForgetParts['clearBuild'] = async ({ domain }, generation) =>
    adapters.buildStorage(domain).clear?.(generation)
  return {
    keys: keys.store,
    ring: keys.ring,
    pipelines,
    clock,
    drop,
    clearBuild,
    timeoutMs: FOLDED_MS,
    fencedMs: SESSIONS * (config.kafka?.sessionMs ?? 0),
  }
}
