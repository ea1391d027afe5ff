import type { Counter, Histogram } from 'prom-client'
import type { EdgeReport } from '../../producers/http/server.ts'
import type { Instruments } from './instruments.ts'

/**
 * The maximum numbers of label sets of the histogram (17 time series per set) and of the counter (one per set). With all other metrics, a
 * process stays below 5,000 time series.
 */
const [MAX_DURATIONS, MAX_RESPONSES] = [200, 800]
/** The label that replaces the route and the method of answers beyond these maxima. It also replaces a method that is not in `METHODS`. */
const OTHER = 'other'
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Counts the answers of the public edge. */
export const answerReport = ({
  duration,
  responses,
}: Pick<Instruments, 'duration' | 'responses'>): EdgeReport['answered'] => {
  const durationOf = boundOnce<'method' | 'route' | 'class', Histogram.Internal<string>>(MAX_DURATIONS, (labels) =>
    duration.labels({ edge: 'public', ...labels }),
  )
  const responsesOf = boundOnce<'route' | 'status', Counter.Internal>(MAX_RESPONSES, (labels) =>
    responses.labels({ edge: 'public', ...labels }),
  )
  return ({ method: sent, route, status, seconds }) => {
    const method = METHODS.has(sent) ? sent : OTHER
    const statusClass = `${Math.floor(status / 100)}xx`
    durationOf({ method, route, class: statusClass }, { method: OTHER, route: OTHER, class: statusClass }).observe(
      seconds,
    )
    responsesOf({ route, status: String(status) }, { route: OTHER, status: String(status) }).inc()
  }
}

type Labels<Name extends string> = Readonly<Record<Name, string>>

/** Returns a function that binds each label set once. After `most` label sets, `fallback` replaces each new label set. */
const boundOnce = <Name extends string, Child>(most: number, bind: (labels: Labels<Name>) => Child) => {
  const children = new Map<string, Child>()
  const bound = (labels: Labels<Name>, key: string): Child => {
    const child = bind(labels)
    children.set(key, child)
    return child
  }
  return (labels: Labels<Name>, fallback: Labels<Name>): Child => {
    const key = Object.values(labels).join(' ')
    const found = children.get(key)
    if (found !== undefined) return found
    if (children.size < most) return bound(labels, key)
    const fallbackKey = Object.values(fallback).join(' ')
    return children.get(fallbackKey) ?? bound(fallback, fallbackKey)
  }
}
