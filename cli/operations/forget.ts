import { forget, type ForgetParts, type Forgot } from '../../processors/engine/forgetting.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Operation } from '../operations.ts'
import type { Runtime } from '../runtime.ts'
import { dropOne } from './generations.ts'

const FOLDED_MS = 15_000

export const forgetPerson: Operation<{ readonly subject: string }> = async (runtime, { subject }, says): Promise<Forgot> => {
  if (typeof subject !== 'string' || subject === '') throw new Fault('bad-usage', 'Name the person: tributary forget --subject ID.')
  return forget({ ...forgetPartsOf(runtime), progress: (text) => says.progress(text) }, subject)
}

export const forgetPartsOf = (runtime: Runtime): ForgetParts => {
  const { keys, pipelines, adapters, clock } = runtime
  const drop: ForgetParts['drop'] = async ({ domain, control }, generation) => {
    const listed = (await control.generations(domain.name)).find((each) => each.generation === generation)
    await dropOne(runtime, { domain: domain.name, generation }, SILENT)
    const place = listed?.work?.place
    if (place === undefined || place === adapters.workshop(domain).place) return []
    return [`Generation ${generation} of ${domain.name} was being built at ${place}. A builder that still runs clears it and begins again; if it does not run, remove builds/ there.`]
  }
  const clearBuild: ForgetParts['clearBuild'] = async ({ domain }, generation) => adapters.workshop(domain).clear?.(generation)
  return { keys: keys.store, ring: keys.ring, pipelines, clock, drop, clearBuild, timeoutMs: FOLDED_MS }
}

const SILENT = { row: () => undefined, progress: () => undefined, signal: new AbortController().signal }
