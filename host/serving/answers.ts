import type { Counter, Histogram } from 'prom-client'
import type { EdgeReport } from '../../producers/http/server.ts'
import type { Instruments } from './instruments.ts'

/**
 * The maximum numbers of label combinations of the histogram (17 Prometheus time series each) and of the counter (one each). With these maxima, all
 * metrics of a process together have fewer than 5,000 time series.
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

/**
 * Returns a function that returns the metric for a combination of labels. The function keeps the metrics of the first `most` combinations. For
 * each further combination it returns the metric of `fallback`.
 */
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
