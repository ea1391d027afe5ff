import type { Progress } from '../../processors/engine/rebuild/build-lease.ts'
import type { CommandOutput } from '../ipc/command-context.ts'

const WINDOW_MS = 10_000
const UNITS = { folded: 'events', written: 'items' } as const

/** Returns a function that prints the progress of a build: the share, the rate over the last ten seconds, and the time left at that rate. */
export const createMeter = (
  output: Pick<CommandOutput, 'progress'>,
  name: string,
  now: () => number,
): ((progress: Progress) => void) => {
  let samples: { readonly at: number; readonly done: number }[] = []
  let last: Progress['what'] | undefined
  return ({ what, done, of }) => {
    if (what !== last) samples = []
    last = what
    samples = [...samples.filter(({ at }) => at >= now() - WINDOW_MS), { at: now(), done }]
    const rate = rateOf(samples)
    const left = rate > 0 && done < of ? `, ${duration((of - done) / rate)} left` : ''
    const share = of === 0 ? 1 : Math.min(1, done / of)
    output.progress(
      `${name}: ${count(done)} of ${count(of)} ${UNITS[what]} ${what} (${Math.floor(share * 100)} %)${rate > 0 ? `, ${count(rate)}/s` : ''}${left}`,
      share,
    )
  }
}

const rateOf = (samples: readonly { readonly at: number; readonly done: number }[]): number => {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || last.at <= first.at) return 0
  return Math.max(0, ((last.done - first.done) * 1000) / (last.at - first.at))
}

export const count = (value: number): string => Math.round(value).toLocaleString('en')

const duration = (seconds: number): string => {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}
