/** The faults that tests set for the next calls of some paths. */
export interface Fault {
  /** `status`: answers this status. `hang`: never answers. `reset`: cuts the connection at once. `delay`: answers later. `lost`: does the work, then cuts the connection. */
  readonly kind: (typeof FAULT_KINDS)[number]
  readonly method?: string
  /** The path without the base path of the API, such as `/activities/*` or `/oauth/token`. `*` is any text without a slash. */
  readonly path: string
  readonly status?: number
  /** The body of the answer. Default: the error that Strava sends with this status. */
  readonly body?: unknown
  readonly ms?: number
}

export const FAULT_KINDS = ['status', 'hang', 'reset', 'delay', 'lost'] as const

interface Script {
  readonly fault: Fault
  readonly pattern: RegExp
  left: number
}

/** The scripted faults. The oldest script that matches a call and is not used up decides. */
export interface Faults {
  add(fault: Fault, count: number): void
  take(method: string, path: string): Fault | undefined
  left(): readonly { readonly fault: Fault; readonly left: number }[]
  clear(): void
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]+')}$`)

export const createFaults = (): Faults => {
  let scripts: Script[] = []
  return {
    add: (fault, count) => void scripts.push({ fault, pattern: patternOf(fault.path), left: count }),
    take: (method, path) => {
      const script = scripts.find(
        ({ fault, pattern }) => pattern.test(path) && (fault.method === undefined || fault.method === method),
      )
      if (script === undefined) return undefined
      script.left--
      scripts = scripts.filter(({ left }) => left > 0)
      return script.fault
    },
    left: () => scripts.map(({ fault, left }) => ({ fault, left })),
    clear: () => void (scripts = []),
  }
}
