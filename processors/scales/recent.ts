import type { ReadingReportedData } from '../../schemas/generated/scales.ts'

/**
 * The readings last heard at a tap, each by what names it (device, boot, sequence) and what it said: text, so that it is small. When a
 * reading was measured is not among what it said: sent again, it is reckoned anew from its age.
 */
const KEPT = 16

export type Standing = 'new' | 'again' | 'reused'

export const standingOf = (heard: string | undefined, reading: ReadingReportedData): Standing => {
  if (heard === undefined) return 'new'
  const name = nameOf(reading)
  const start = heard.indexOf(name)
  if (start === -1) return 'new'
  return heard.startsWith(valueOf(reading), start + name.length) ? 'again' : 'reused'
}

export const withReading = (heard: string | undefined, reading: ReadingReportedData): string => {
  const entry = nameOf(reading) + valueOf(reading)
  return heard === undefined ? entry : `${newest(heard)};${entry}`
}

/** All but the oldest, where there are as many as are kept. */
const newest = (heard: string): string => {
  let [start, count] = [heard.length, 0]
  while (count < KEPT - 1) {
    start = heard.lastIndexOf(';', start - 1)
    if (start <= 0) return heard
    count += 1
  }
  return heard.slice(start + 1)
}

/** Ends in what no number holds, so that no name is the beginning of another. */
const nameOf = (reading: ReadingReportedData): string => `${lifeOf(reading)}.${reading.seq.toString(36)}:`

/** One life of a device, in short. */
export const lifeOf = ({ device_id, boot }: { readonly device_id: string; readonly boot: string }): string => hash(`${device_id}|${boot}`)

export const valueOf = ({ weight_lbs, level_pct, battery_v, battery_pct, tare_status }: ReadingReportedData): string =>
  hash(`${weight_lbs}|${level_pct}|${battery_v}|${battery_pct}|${tare_status}`)

/** FNV-1a, always of seven letters and digits. */
const hash = (text: string): string => {
  let sum = 0x811c9dc5
  for (let index = 0; index < text.length; index++) sum = Math.imul(sum ^ text.charCodeAt(index), 0x01000193)
  return (sum >>> 0).toString(36).padStart(7, '0')
}
